// Expression types of data described by a structural schema, with the maximum sizes within one request.

import { type Steps, finishSteps } from "#base";
import { types, type CelType, listOf, mapOf } from "../types.ts";
import { escapeName } from "./escape.ts";

/** The schema keywords that matter to expressions, spelled as in OpenAPI; extensions without their prefix. */
export interface SchemaLike {
  readonly type?: string;
  readonly format?: string;
  readonly items?: SchemaLike;
  readonly properties?: Readonly<Record<string, SchemaLike>>;
  readonly additionalProperties?: SchemaLike | boolean;
  readonly maxItems?: number;
  readonly maxLength?: number;
  /** Size of the longest text that is allowed by an enumeration. */
  readonly enumBytes?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly intOrString?: boolean;
  readonly embeddedResource?: boolean;
  readonly preserveUnknownFields?: boolean;
  readonly listType?: string;
  readonly listMapKeys?: readonly string[];
}

export interface SchemaType {
  readonly type: CelType;
  readonly schema: SchemaLike;
  /** Maximum number of elements, characters or entries. */
  readonly maxElements: number;
  /** Minimum number of bytes of such a value in JSON. */
  readonly minSize: number;
  readonly elem?: SchemaType;
  /** Fields by their identifier in expressions. */
  readonly fields?: ReadonlyMap<string, SchemaType>;
}

export const maxRequestBytes = 3 * 1024 * 1024;

const maxStringBytes = maxRequestBytes - 2;
const positive = (value: number): number => Math.max(value, 0);

/**
 * Returns the type; undefined if the data is not visible to expressions. Objects are named after their path.
 */
export const typeOfSchema = (schema: SchemaLike, name: string, isRoot: boolean): SchemaType | undefined =>
  finishSteps(schemaTypeSteps(schema, name, isRoot));

export function* schemaTypeSteps(
  schema: SchemaLike,
  name: string,
  isRoot: boolean,
): Steps<SchemaType | undefined> {
  if (schema.intOrString) return simple(schema, types.dyn, 1, maxStringBytes);
  const whole = isRoot ? withMetadata(schema) : schema;
  switch (whole.type) {
    case "array":
      return yield* listType(whole, name);
    case "object":
      return typeof whole.additionalProperties === "object"
        ? yield* mapType(whole, name)
        : yield* objectType(whole, name);
    case "string":
      return stringType(whole);
    case "boolean":
      return simple(whole, types.bool, 4, 0);
    case "number":
      return simple(whole, types.double, 1, 0);
    case "integer":
      return simple(whole, types.int, 1, 0);
    default:
      return undefined;
  }
}

const simple = (schema: SchemaLike, type: CelType, minSize: number, maxElements: number): SchemaType => ({
  type,
  schema,
  minSize,
  maxElements,
});

function* listType(schema: SchemaLike, name: string): Steps<SchemaType | undefined> {
  if (!schema.items) return undefined;
  const elem = yield* schemaTypeSteps(schema.items, `${name}.@idx`, schema.items.embeddedResource === true);
  if (!elem) return undefined;
  const maxElements =
    schema.maxItems === undefined
      ? Math.floor((maxRequestBytes - 2) / (elem.minSize + 1))
      : positive(schema.maxItems);
  return { type: listOf(elem.type), schema, minSize: 2, maxElements, elem };
}

function* mapType(schema: SchemaLike, name: string): Steps<SchemaType | undefined> {
  const values = schema.additionalProperties as SchemaLike;
  const elem = yield* schemaTypeSteps(values, `${name}.@elem`, values.embeddedResource === true);
  if (!elem) return undefined;
  const maxElements =
    schema.maxProperties === undefined
      ? Math.floor((maxRequestBytes - 2) / (elem.minSize + 6))
      : positive(schema.maxProperties);
  return { type: mapOf(types.string, elem.type), schema, minSize: 2, maxElements, elem };
}

function* objectType(schema: SchemaLike, name: string): Steps<SchemaType> {
  const required = new Set(schema.required);
  const fields = new Map<string, SchemaType>();
  const fieldTypes = new Map<string, CelType>();
  let minSize = 2;
  for (const [property, child] of Object.entries(schema.properties ?? {})) {
    const identifier = escapeName(property);
    yield;
    const type = yield* schemaTypeSteps(
      child,
      `${name}.${identifier ?? property}`,
      child.embeddedResource === true,
    );
    if (!type) continue;
    if (identifier !== undefined) {
      fields.set(identifier, type);
      fieldTypes.set(identifier, type.type);
    }
    const hasDefault = child.default !== undefined && child.default !== null;
    if (required.has(property) && !hasDefault) minSize += Buffer.byteLength(property) + type.minSize + 4;
  }
  return { type: { kind: "object", name, fields: fieldTypes }, schema, minSize, maxElements: 0, fields };
}

function stringType(schema: SchemaLike): SchemaType {
  switch (schema.format) {
    case "byte":
      return simple(
        schema,
        types.bytes,
        2,
        schema.maxLength === undefined ? maxStringBytes : positive(schema.maxLength),
      );
    case "duration":
      return simple(schema, types.duration, 3, 32);
    case "date":
      return simple(schema, types.timestamp, 12, 12);
    case "date-time":
      return simple(schema, types.timestamp, 21, 32);
    default:
      return simple(
        schema,
        types.string,
        2,
        schema.maxLength === undefined ? maxStringBytes : positive(schema.maxLength) * 4,
      );
  }
}

const enumSize = ({ type, schema: { maxLength, enumBytes } }: SchemaType): number | undefined =>
  type === types.string && maxLength === undefined ? enumBytes : undefined;

const text: SchemaLike = { type: "string" };

/**
 * Adds kind, apiVersion and metadata, which a resource always exposes, whether or not its schema declares
 * them.
 */
export function withMetadata(schema: SchemaLike): SchemaLike {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const described =
    kind?.type === "string" &&
    apiVersion?.type === "string" &&
    metadata?.type === "object" &&
    metadata.properties?.["name"]?.type === "string" &&
    metadata.properties["generateName"]?.type === "string";
  if (described) return schema;
  const named: SchemaLike = { type: "object", properties: { name: text, generateName: text } };
  return { ...schema, properties: { ...schema.properties, kind: text, apiVersion: text, metadata: named } };
}

/** Returns the sizes of data below a variable of this type, by path. Later releases consider enumerations. */
export function sizesOf(
  root: SchemaType,
  { enums = false }: { readonly enums?: boolean } = {},
): (path: readonly string[]) => { min: number; max: number } | undefined {
  return (path) => {
    let current: SchemaType | undefined = root;
    let isKey = false;
    for (const step of path.slice(1)) {
      if (isKey || !current) return undefined;
      if (step === "@keys") isKey = current.type.kind === "map";
      if (step === "@keys" && !isKey) return undefined;
      if (step !== "@keys")
        current = step === "@items" || step === "@values" ? current.elem : current.fields?.get(step);
    }
    if (!current) return undefined;
    // Map keys have no declared size; the reference treats them as empty.
    return { min: 0, max: isKey ? 0 : ((enums ? enumSize(current) : undefined) ?? current.maxElements) };
  };
}
