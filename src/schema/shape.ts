// The grammar of declarations. A schema is a plain value; every derivation in this room is a function over
// it.
//
// In memory an object has the shape of its canonical JSON: the same keys, times, quantities and bytes as
// strings, and nothing that JSON would leave out. So the JSON of an object is `JSON.stringify` of it, and
// decoding is parse and check.
//
//   field says     JSON when unset      protobuf when unset    zero value given
//   required       its zero value       written                kept
//   optional       left out             written if scalar      left out (a message that is given stays)
//   pointer        left out             left out               kept: zero and unset differ
//   embedded       {} (null for times)  written, empty         kept
//   inline         its fields stand in the parent's JSON; a nested message in protobuf

import type { MergeType } from "./merge/merge-type.ts";
import type { OpenApiVersion, SchemaObject } from "./openapi/schema-object.ts";

export type ScalarName =
  | "string"
  | "bool"
  | "int32"
  | "int64" // a number; a bigint beyond 2^53
  | "uint32"
  | "uint64" // a number; a bigint beyond 2^53
  | "double"
  | "float"
  | "bytes" // base64 text
  | "rawBytes" // a Uint8Array, for binary peers only
  | "time" // "2006-01-02T15:04:05Z"
  | "microTime" // "2006-01-02T15:04:05.000000Z"
  | "duration" // "1h0m0s"
  | "quantity" // canonical text
  | "intOrString"
  | "rawExtension" // any JSON object, its bytes kept as they came
  | "fieldsV1" // a field set, any JSON object
  | "json"; // any JSON value

declare const value: unique symbol;

/** Plain values, lists and maps have a `typeName` where their package names them, as `v1.PodPhase`. */
export interface Scalar<T = unknown, N extends ScalarName = ScalarName> {
  readonly shape: "scalar";
  readonly scalar: N;
  readonly typeName?: string;
  readonly [value]?: T;
}
export interface ListOf<S extends Shape = Shape> {
  readonly shape: "list";
  readonly of: S;
  readonly typeName?: string;
}
export interface MapOf<S extends Shape = Shape> {
  readonly shape: "map";
  readonly of: S;
  readonly typeName?: string;
}
/** Where recursion closes: the message is looked up when a derivation first needs it. */
export interface Recursive<T = unknown> {
  readonly shape: "recursive";
  readonly get: () => Message;
  /** What may stand in the message's place: a boolean, a list of such messages, or a list of strings. */
  readonly or?: "bool" | "array" | "strings";
  readonly [value]?: T;
}
export interface Message<F extends Fields = Fields> {
  readonly shape: "message";
  readonly name: string;
  /** The package in published schema names, such as `api.core.v1`. */
  readonly package: string;
  readonly doc: string;
  readonly fields: F;
  readonly more: MessageExtras;
  /** Set for top-level kinds, which carry `kind` and `apiVersion`. */
  readonly kind?: KindName;
}
export type Shape = Scalar | ListOf | MapOf | Recursive | Message;

export interface KindName {
  /** Without the product's suffix: `events`, `rbac.authorization`, `apps`, or empty for the core group. */
  readonly group: string;
  /** Whether the dialect's suffix follows on the wire (`events.…`) or not (`apps`). */
  readonly branded: boolean;
  readonly version: string;
  readonly kind: string;
}

export type Presence = "required" | "optional" | "pointer" | "embedded" | "inline";

export interface Field<S extends Shape = Shape, P extends Presence = Presence> {
  readonly number: number;
  readonly shape: S;
  readonly presence: P;
  readonly doc: string;
  readonly more: FieldExtras;
}
export type Fields = Readonly<Record<string, Field>>;

/** How the quick and the careful way through a document tell an open kind where they are. */
export interface OpenWalk {
  /** Whether the tree may be corrected in place. */
  readonly own: boolean;
  /** Object keys met so far. */
  keys: number;
  /** How much deeper the data may nest. */
  depthLeft: number;
  /** Set when something was dropped that no schema names. */
  unknown: boolean;
  /** Set when numbers stand in lists, where the count of keys does not look at their spelling. */
  numbers: boolean;
  /** Paths of what was dropped; absent where nobody asks. */
  readonly unknownPaths?: string[];
  /** The same of metadata inside of objects, which are told last. */
  readonly unknownMetadata?: string[];
}

/** Fields that no declaration names: a kind that is defined at run time brings a schema for them. */
export interface OpenFields {
  /** The value of a field in canonical form; undefined drops it. */
  read(key: string, value: unknown, walk: OpenWalk): unknown;
  /** Removes, in place, nulls that the schema neither allows nor has a default for. */
  dropNulls(object: Record<string, unknown>): void;
  /** Drops, in place, metadata of the wrong type: for stored objects that cannot be decoded otherwise. */
  dropMalformed(object: Record<string, unknown>): void;
  /** Fills in defaults, in place. */
  applyDefaults(object: Record<string, unknown>): void;
  /** How server-side apply merges the whole object, declared fields included. */
  mergeType(): MergeType;
  /** The published schema of the whole object; `metadata` refers to the published one. */
  published(metadata: string, version: OpenApiVersion): SchemaObject;
  /** What lists of the kind are called. */
  readonly listKind: string;
}

export interface MessageExtras {
  /** Fields beside the declared ones. */
  readonly open?: OpenFields;
  /** The whole name under which it is published, where that does not follow from its package. */
  readonly publishedName?: string;
  /** The declaration of the same name that this one reads differently; what is published is the same. */
  readonly variantOf?: Message;
  /** One owner for the whole value in server-side apply; also published as map type. */
  readonly atomic?: boolean;
  /** A union: the discriminator's field and the fields it chooses between. */
  readonly union?: { readonly discriminator?: string; readonly members: readonly string[] };
}

export interface FieldExtras {
  /** Filled in when the field is unset (and, for `optional`, when it is zero). */
  readonly default?: unknown;
  /** The default that published schemas show when it is not `default` (an empty message, say). */
  readonly publishedDefault?: unknown;
  /** Known values, published as an enumeration. An open enumeration is not validated structurally. */
  readonly enum?: readonly string[];
  readonly openEnum?: boolean;
  /** Structural rules, run by validate(). */
  readonly rules?: readonly Rule[];
  /** How server-side apply merges a list: map lists by `keys`; sets by value; atomic otherwise. */
  readonly list?:
    | { readonly type: "map"; readonly keys: readonly string[] }
    | { readonly type: "set" }
    | { readonly type: "atomic" };
  /** A map with one owner. */
  readonly atomicMap?: boolean;
  /** Strategic merge patch: how the patch meets the live value, and by which key list items are matched. */
  readonly patch?: {
    readonly strategy?: "merge" | "replace" | "retainKeys" | "merge,retainKeys";
    readonly key?: string;
  };
  /** A required field that may be null (no zero value of its own). */
  readonly nullable?: boolean;
  /** Where the published schema's `required` list differs from the presence. */
  readonly published?: "required" | "optional";
  /**
   * A list or map that, read while empty, is not as good as absent: the kind's rules tell the two apart. It
   * is never written.
   */
  readonly emptyCounts?: boolean;
  /** Published without its description, as kube-apiserver does: a reference then stands alone. */
  readonly undescribed?: boolean;
  /** A published format that does not follow from the scalar. */
  readonly format?: string;
  /**
   * In protobuf the list is a message of its own, with the items in field 1. (Lists inside maps and lists
   * always are.)
   */
  readonly wrapped?: boolean;
  /** A field of a later release: servers know it only if this feature gate is on. */
  readonly gate?: string;
  /** A field of expressions of a later release: servers know it from this minor release on. */
  readonly since?: number;
}

/** Says what is wrong with a value, or nothing. */
export type Rule = (value: never) => RuleFinding | readonly RuleFinding[] | undefined;
export interface RuleFinding {
  readonly type:
    | "FieldValueInvalid"
    | "FieldValueTooLong"
    | "FieldValueTooMany"
    | "FieldValueRequired"
    | "FieldValueNotSupported"
    | "FieldValueDuplicate"
    | "FieldValueForbidden";
  readonly detail: string;
}

const scalar =
  <T>() =>
  <const N extends ScalarName>(name: N): Scalar<T, N> => ({ shape: "scalar", scalar: name });
export const string = scalar<string>()("string");
export const bool = scalar<boolean>()("bool");
export const int32 = scalar<number>()("int32");
export const int64 = scalar<number>()("int64");
export const uint32 = scalar<number>()("uint32");
export const uint64 = scalar<number | bigint>()("uint64");
export const float = scalar<number>()("float");
export const double = scalar<number>()("double");
export const bytes = scalar<string>()("bytes");
export const rawBytes = scalar<Uint8Array>()("rawBytes");
export const time = scalar<string>()("time");
export const microTime = scalar<string>()("microTime");
export const duration = scalar<string>()("duration");
export const quantity = scalar<string>()("quantity");
export const intOrString = scalar<number | string>()("intOrString");
export const rawExtension = scalar<Record<string, unknown>>()("rawExtension");
export const fieldsV1 = scalar<Record<string, unknown>>()("fieldsV1");
export const json = scalar<unknown>()("json");

export const list = <S extends Shape>(of: S): ListOf<S> => ({ shape: "list", of });
export const map = <S extends Shape>(of: S): MapOf<S> => ({ shape: "map", of });
export const recursive = <T>(get: () => Message): Recursive<T> => ({ shape: "recursive", get });
/** A message, or `true`/`false` in its place; likewise a list of such messages, or of strings. */
export const orBool = <T>(get: () => Message): Recursive<T | boolean> => ({
  shape: "recursive",
  get,
  or: "bool",
});
export const orArray = <T>(get: () => Message): Recursive<T | T[]> => ({
  shape: "recursive",
  get,
  or: "array",
});
export const orStrings = <T>(get: () => Message): Recursive<T | string[]> => ({
  shape: "recursive",
  get,
  or: "strings",
});

const field =
  <P extends Presence>(presence: P) =>
  <S extends Shape>(number: number, shape: S, doc: string, more: FieldExtras = {}): Field<S, P> => ({
    number,
    shape,
    presence,
    doc,
    more,
  });
export const required = field("required");
export const optional = field("optional");
export const pointer = field("pointer");
export const embedded = field("embedded");
/** The message's fields stand in the parent's JSON. */
export const inline = <S extends Message>(number: number, shape: S): Field<S, "inline"> => ({
  number,
  shape,
  presence: "inline",
  doc: "",
  more: {},
});

/** What errors of decoding call a type: the last part of its package stands before its name. */
export const typeName = (home: string, name: string): string => `${home.split(".").at(-1)}.${name}`;

/** Declares the messages, kinds and named types of one API package. */
export function apiPackage<
  const P extends {
    readonly package: string;
    readonly group?: string;
    readonly branded?: boolean;
    readonly version?: string;
  },
>(home: P) {
  return {
    /**
     * A type of this package that is a plain value, list or map under a name of its own. Only errors of decoding
     * tell the name.
     */
    named: <S extends Scalar | ListOf | MapOf>(name: string, shape: S): S => ({
      ...shape,
      typeName: typeName(home.package, name),
    }),
    message: <F extends Fields>(
      name: string,
      doc: string,
      fields: F,
      more: MessageExtras = {},
    ): Message<F> => ({
      shape: "message",
      name,
      package: home.package,
      doc,
      fields,
      more,
    }),
    kind: <const K extends string, F extends Fields>(
      name: K,
      doc: string,
      fields: F,
      more: MessageExtras = {},
    ): Message<F> & { readonly kind: KindName & { readonly kind: K } } => ({
      shape: "message",
      name,
      package: home.package,
      doc,
      fields,
      more,
      kind: {
        group: home.group ?? "",
        branded: home.branded ?? false,
        version: home.version ?? "v1",
        kind: name,
      },
    }),
  };
}
