// The part of a schema that server-side apply needs, compiled once: which values are atomic, which lists are
// sets or maps, and which keys identify their items. Custom kinds without a declaration build it from their
// own schema.

import type { Field, Message, Scalar, Shape } from "../shape.ts";
import type { Json } from "./json-value.ts";
import { jsonFields, resolved } from "./message-fields.ts";
import { fieldElement } from "./path-element.ts";

export type MergeType = ScalarType | StructType | MapType | ListType | AnyType;

export interface ScalarType {
  readonly is: "scalar";
  readonly of: "string" | "number" | "boolean" | "anything";
}
export interface StructType {
  readonly is: "struct";
  readonly atomic: boolean;
  /** Sorted by name. */
  readonly fields: readonly StructField[];
  readonly byName: ReadonlyMap<string, StructField>;
  readonly byElement: ReadonlyMap<string, StructField>;
  /** The type of undeclared fields; undefined rejects them. */
  readonly others?: MergeType;
}
export interface StructField {
  readonly name: string;
  readonly element: string;
  readonly type: MergeType;
  /** Used if the field is a list map key and an item lacks it. */
  readonly keyDefault?: Json;
}
export interface MapType {
  readonly is: "map";
  readonly atomic: boolean;
  readonly of: MergeType;
}
export interface ListType {
  readonly is: "list";
  readonly relation: "atomic" | "set" | "keyed";
  /** Sorted. */
  readonly keys: readonly string[];
  readonly of: MergeType;
}
/** Any JSON: objects are granular, lists are atomic. */
export interface AnyType {
  readonly is: "any";
}

export const anyType: AnyType = { is: "any" };

const compiled = new WeakMap<Message, StructType>();

/** Returns the merge type of a schema, compiled on first use. */
export function mergeTypeOf(schema: Message | MergeType): MergeType {
  return "is" in schema ? schema : (schema.more.open?.mergeType() ?? structOf(schema));
}

/** Builds a struct type for schemas that are not declarations. */
export function structType(
  fields: Readonly<Record<string, { readonly type: MergeType; readonly keyDefault?: Json }>>,
  more: { readonly atomic?: boolean; readonly others?: MergeType } = {},
): StructType {
  const list = Object.entries(fields).map(([name, field]): StructField => ({
    name,
    element: fieldElement(name),
    ...field,
  }));
  return {
    is: "struct",
    atomic: more.atomic ?? false,
    ...indexed(list),
    ...(more.others === undefined ? {} : { others: more.others }),
  };
}

function indexed(fields: readonly StructField[]): Pick<StructType, "fields" | "byName" | "byElement"> {
  return {
    fields: fields.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    byName: new Map(fields.map((field) => [field.name, field])),
    byElement: new Map(fields.map((field) => [field.element, field])),
  };
}

function structOf(message: Message): StructType {
  const known = compiled.get(message);
  if (known !== undefined) return known;
  // Registered before its fields are compiled, so that a message may contain itself.
  const type: Mutable<StructType> = { is: "struct", atomic: message.more.atomic ?? false, ...indexed([]) };
  compiled.set(message, type);
  Object.assign(type, indexed(Array.from(jsonFields(message), ([name, field]) => fieldOf(name, field))));
  return type;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function fieldOf(name: string, field: Field): StructField {
  const keyDefault = keyDefaultOf(field);
  return {
    name,
    element: fieldElement(name),
    type: fieldTypeOf(field),
    ...(keyDefault === undefined ? {} : { keyDefault }),
  };
}

function fieldTypeOf(field: Field): MergeType {
  const shape = resolved(field.shape);
  if (shape.shape === "list") return listOf(shape.of, field);
  const type = typeOf(shape);
  const { atomicMap } = field.more;
  if (atomicMap === undefined || (type.is !== "struct" && type.is !== "map")) return type;
  // The field's setting overrides that of the message: `false` makes an otherwise atomic message granular.
  return type.is === "map" ? { ...type, atomic: atomicMap } : withAtomic(type, atomicMap);
}

// The fields of a message that is still being compiled are not known yet, so they are read on demand.
function withAtomic(type: StructType, atomic: boolean): StructType {
  return {
    is: "struct",
    atomic,
    get fields() {
      return type.fields;
    },
    get byName() {
      return type.byName;
    },
    get byElement() {
      return type.byElement;
    },
  };
}

// If the declaration states no list type, the patch strategy determines it.
function listOf(of: Shape, { more }: Field): ListType {
  const items = typeOf(of);
  if (more.list?.type === "map")
    return { is: "list", relation: "keyed", keys: [...more.list.keys].sort(), of: items };
  if (more.list?.type === "set") return { is: "list", relation: "set", keys: [], of: items };
  const merges =
    more.list === undefined &&
    (more.patch?.strategy === "merge" || more.patch?.strategy === "merge,retainKeys");
  if (!merges) return { is: "list", relation: "atomic", keys: [], of: items };
  const key = more.patch?.key;
  return key === undefined
    ? { is: "list", relation: "set", keys: [], of: items }
    : { is: "list", relation: "keyed", keys: [key], of: items };
}

function typeOf(shape: Shape): MergeType {
  switch (shape.shape) {
    case "scalar":
      return scalarOf(shape);
    case "list":
      return { is: "list", relation: "atomic", keys: [], of: typeOf(shape.of) };
    case "map":
      return { is: "map", atomic: false, of: typeOf(shape.of) };
    case "recursive":
      return shape.or === undefined ? structOf(shape.get()) : anyType;
    case "message":
      return structOf(shape);
  }
}

function scalarOf({ scalar }: Scalar): MergeType {
  switch (scalar) {
    case "json":
    case "fieldsV1":
      return anyType;
    case "bool":
      return { is: "scalar", of: "boolean" };
    case "int32":
    case "int64":
    case "uint32":
    case "uint64":
    case "float":
    case "double":
      return { is: "scalar", of: "number" };
    case "rawExtension":
    case "intOrString":
    case "quantity":
    case "rawBytes":
    // A format may represent a non-string value; kube-apiserver does not check these.
    case "time":
    case "microTime":
      return { is: "scalar", of: "anything" };
    default:
      return { is: "scalar", of: "string" };
  }
}

// Published schemas default a required scalar to its zero value, which also applies to list map keys.
function keyDefaultOf({ more, presence, shape }: Field): Json | undefined {
  const published = "publishedDefault" in more ? more.publishedDefault : more.default;
  if (published !== undefined) return published as Json;
  if (presence !== "required" || more.nullable === true || shape.shape !== "scalar") return undefined;
  const type = scalarOf(shape);
  if (type.is !== "scalar" || type.of === "anything") return undefined;
  return type.of === "string" ? "" : type.of === "number" ? 0 : false;
}

/** Returns the type of the value under a key. */
export function typeUnder(type: MergeType, key: string): MergeType {
  if (type.is === "map") return type.of;
  return type.is === "struct" ? (type.byName.get(key)?.type ?? type.others ?? anyType) : anyType;
}

/** Reports whether a value of the type may contain a set or a keyed list, so that duplicates are possible. */
export const hasItems = (type: MergeType): boolean =>
  remembered(
    withItems,
    type,
    () => (type.is === "list" && type.relation !== "atomic") || partsOf(type).some(hasItems),
  );

/** Reports whether such a list may be inside an atomic value, which comparisons do not descend into. */
export const hasHiddenItems = (type: MergeType): boolean =>
  remembered(withHiddenItems, type, () => partsOf(type).some(isAtomic(type) ? hasItems : hasHiddenItems));

export const isAtomic = (type: MergeType): boolean =>
  type.is === "list"
    ? type.relation === "atomic"
    : (type.is === "struct" || type.is === "map") && type.atomic;

function partsOf(type: MergeType): readonly MergeType[] {
  if (type.is === "list" || type.is === "map") return [type.of];
  if (type.is !== "struct") return [];
  const parts = type.fields.map((field) => field.type);
  return type.others === undefined ? parts : [...parts, type.others];
}

const withItems = new WeakMap<MergeType, boolean>();
const withHiddenItems = new WeakMap<MergeType, boolean>();

function remembered(answers: WeakMap<MergeType, boolean>, type: MergeType, find: () => boolean): boolean {
  const known = answers.get(type);
  if (known !== undefined) return known;
  answers.set(type, true); // assumed for a recursive type until its answer is known
  const answer = find();
  answers.set(type, answer);
  return answer;
}
