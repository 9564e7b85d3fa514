// JSON data viewed through its schema: nothing is copied, members are converted when they are read.

import { equalParts } from "../operations.ts";
import { durationFromText, secondsOfDate, timestampFromText } from "../time-values.ts";
import { types } from "../types.ts";
import {
  Double,
  type Duration,
  Opaque,
  Timestamp,
  type Value,
  View,
  evaluationError,
  isList,
  numberOf,
} from "../values.ts";
import { escapeName, unescapeName } from "./escape.ts";
import { type SchemaLike, withMetadata } from "./schema-type.ts";
import { chargeWalk, ownKeys } from "../walk-limit.ts";

type Json = Record<string, unknown>;

/** Returns the value of JSON data under a schema. */
export function viewOf(data: unknown, schema: SchemaLike): Value {
  if (data === null || data === undefined) {
    if (schema.nullable) return null;
    throw evaluationError("invalid data, got null for schema with nullable=false");
  }
  if (schema.intOrString) {
    if (typeof data === "string" || Number.isInteger(data)) return data as string | number;
    throw evaluationError("invalid data, expected XIntOrString value to be either a string or integer");
  }
  switch (schema.type) {
    case "object":
      return objectView(data, schema);
    case "array":
      return listView(data, schema);
    case "string":
      return textValue(data, schema.format);
    case "number":
      if (typeof data === "number") return new Double(data);
      throw evaluationError(`invalid data, expected float, got ${typeof data}`);
    case "integer":
      if (Number.isInteger(data)) return numberOf(data as number);
      if (typeof data === "bigint") return data;
      throw evaluationError(`invalid data, expected int, got ${typeof data}`);
    case "boolean":
      if (typeof data === "boolean") return data;
      throw evaluationError(`invalid data, expected bool, got ${typeof data}`);
    default:
      if (schema.preserveUnknownFields) return new Preserved(data);
      throw evaluationError(`invalid type: ${schema.type ?? ""}`);
  }
}

function objectView(data: unknown, schema: SchemaLike): Value {
  if (typeof data !== "object" || Array.isArray(data))
    throw evaluationError("invalid data, expected a map for the provided schema with type=object");
  const { additionalProperties } = schema;
  if (schema.embeddedResource) return new ObjectView(data as Json, withMetadata(schema));
  if (schema.properties) return new ObjectView(data as Json, schema);
  if (typeof additionalProperties === "object") return new MapView(data as Json, additionalProperties);
  if (schema.preserveUnknownFields) return new ObjectView(data as Json, schema);
  throw evaluationError(
    "invalid object type, expected either Properties or AdditionalProperties with Allows=true and non-empty Schema",
  );
}

function listView(data: unknown, schema: SchemaLike): Value {
  if (!Array.isArray(data))
    throw evaluationError("invalid data, expected an array for the provided schema with type=array");
  if (!schema.items) throw evaluationError("invalid array type, expected Items with a non-empty Schema");
  if (schema.listType === "map") return new KeyedList(data, schema.items, schema.listMapKeys ?? []);
  return schema.listType === "set" ? new SetList(data, schema.items) : new ListView(data, schema.items);
}

function textValue(data: unknown, format: string | undefined): Value {
  if (typeof data !== "string") throw evaluationError(`invalid data, expected string, got ${typeof data}`);
  switch (format) {
    case "duration":
      return formatted(durationValue(data), "duration", data);
    case "date":
      return formatted(dateValue(data), "date formatted string", data);
    case "date-time":
      return formatted(timestampFromText(data), "date-time formatted string", data);
    case "byte":
      return Buffer.from(data, "base64");
    default:
      return data;
  }
}

function formatted(value: Value | undefined, what: string, text: string): Value {
  if (value === undefined) throw evaluationError(`Invalid ${what} ${text}`);
  return value;
}

const dayUnits: readonly (readonly [RegExp, number])[] = [
  [/^(?:w|wk|week)s?$/, 604_800],
  [/^(?:d|day)s?$/, 86_400],
  [/^(?:h|hr|hour)s?$/, 3600],
  [/^(?:m|min|minute)s?$/, 60],
  [/^(?:s|sec|second)s?$/, 1],
  [/^(?:ms|milli|millisecond)s?$/, 1e-3],
  [/^(?:us|\u00b5s|micro|microsecond)s?$/, 1e-6],
  [/^(?:ns|nano|nanosecond)s?$/, 1e-9],
];

/** Durations in schemas may also have the form "3 days". */
function durationValue(text: string): Duration | undefined {
  const plain = durationFromText(text);
  if (plain) return plain;
  const found = /^\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z\u00b5]+)\s*$/i.exec(text);
  const unit = found && dayUnits.find(([names]) => names.test(found[2]!.toLowerCase()));
  return unit ? durationFromText(`${Number(found[1]) * unit[1]}s`) : undefined;
}

function dateValue(text: string): Timestamp | undefined {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  const seconds = found ? secondsOfDate(Number(found[1]), Number(found[2]), Number(found[3])) : undefined;
  return seconds === undefined ? undefined : new Timestamp(seconds, 0);
}

const own = (data: Json, key: string): unknown => (Object.hasOwn(data, key) ? data[key] : undefined);

/** An object with declared fields: a null field counts as absent. */
class ObjectView extends View {
  readonly view = "object";
  readonly raw: Json;
  readonly #schema: SchemaLike;

  constructor(raw: Json, schema: SchemaLike) {
    super();
    this.raw = raw;
    this.#schema = schema;
  }

  get size(): number {
    return ownKeys(this.raw).length;
  }

  #property(name: string): SchemaLike | undefined {
    const { properties } = this.#schema;
    return properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
  }

  get(key: string | number): Value | undefined {
    const name = unescapeName(String(key));
    if (name === undefined) return undefined;
    const value = own(this.raw, name);
    const schema = this.#property(name);
    return value === undefined || value === null || !schema ? undefined : viewOf(value, schema);
  }

  values(): readonly Value[] {
    return ownKeys(this.raw)
      .filter((name) => this.#property(name))
      .map((name) => escapeName(name) ?? name);
  }

  override equals(other: Value, equal: (left: Value, right: Value) => boolean): boolean | undefined {
    if (!(other instanceof ObjectView)) return undefined;
    if (this.size !== other.size) return false;
    return ownKeys(this.raw).every((name) => {
      const schema = this.#property(name);
      const mine = this.raw[name];
      const theirs = own(other.raw, name);
      if (!schema) return theirs === undefined || equal(mine as Value, theirs as Value);
      if (theirs === undefined || theirs === null || mine === null) return mine === theirs;
      return equal(viewOf(mine, schema), viewOf(theirs, schema));
    });
  }
}

class MapView extends View {
  readonly view = "map";
  readonly raw: Json;
  readonly #values: SchemaLike;

  constructor(raw: Json, values: SchemaLike) {
    super();
    this.raw = raw;
    this.#values = values;
  }

  get size(): number {
    return ownKeys(this.raw).length;
  }

  get(key: string | number): Value | undefined {
    const value = own(this.raw, String(key));
    return value === undefined ? undefined : viewOf(value, this.#values);
  }

  values(): readonly Value[] {
    return ownKeys(this.raw);
  }
}

class ListView extends View {
  readonly view = "list";
  readonly raw: readonly unknown[];
  readonly items: SchemaLike;

  constructor(raw: readonly unknown[], items: SchemaLike) {
    super();
    this.raw = raw;
    this.items = items;
  }

  get size(): number {
    return this.raw.length;
  }

  get(key: string | number): Value | undefined {
    const value = this.raw[Number(key)];
    return value === undefined ? undefined : viewOf(value, this.items);
  }

  values(): readonly Value[] {
    return this.raw.map((item) => viewOf(item, this.items));
  }
}

const rawOf = (value: Value): unknown => (value instanceof View ? value.raw : value);
const listValues = (value: Value): readonly Value[] | undefined =>
  isList(value) ? (value instanceof View ? value.values() : value) : undefined;

/** A list whose items are identified by key fields: order is irrelevant, and `+` merges by key. */
class KeyedList extends ListView {
  readonly #keys: readonly string[];

  constructor(raw: readonly unknown[], items: SchemaLike, keys: readonly string[]) {
    super(raw, items);
    this.#keys = keys;
  }

  #keyOf(item: unknown): string {
    const fields = (item ?? {}) as Json;
    return JSON.stringify(this.#keys.map((key) => own(fields, key) ?? null));
  }

  override equals(other: Value, equal: (left: Value, right: Value) => boolean): boolean | undefined {
    const theirs = listValues(other);
    if (!theirs) return undefined;
    if (theirs.length !== this.raw.length) return false;
    const mine = new Map(this.raw.map((item) => [this.#keyOf(item), item]));
    return theirs.every((item) => {
      const match = mine.get(this.#keyOf(rawOf(item)));
      return match !== undefined && equal(viewOf(match, this.items), item);
    });
  }

  override concat(other: readonly Value[]): Value {
    const merged = new Map(this.raw.map((item) => [this.#keyOf(item), item]));
    for (const item of other) merged.set(this.#keyOf(rawOf(item)), rawOf(item));
    return new KeyedList([...merged.values()], this.items, this.#keys);
  }
}

/** A list without duplicate elements: order is irrelevant, and `+` is the union. */
class SetList extends ListView {
  override equals(other: Value): boolean | undefined {
    const theirs = listValues(other);
    if (!theirs) return undefined;
    chargeWalk(theirs.length);
    const mine = new Set(this.raw);
    return theirs.length === this.raw.length && theirs.every((item) => mine.has(rawOf(item)));
  }

  override concat(other: readonly Value[]): Value {
    return new SetList([...new Set([...this.raw, ...other.map(rawOf)])], this.items);
  }
}

/** Data without a schema: it can only be compared. */
class Preserved extends Opaque {
  readonly type = types.dyn;
  readonly #raw: unknown;

  constructor(raw: unknown) {
    super();
    this.#raw = raw;
  }

  override equals(other: Opaque): boolean {
    return other instanceof Preserved && equalParts(this.#raw as Value, other.#raw as Value);
  }
}
