// Schema declarations. A schema is a plain value; codecs, validation, defaulting, patches and published
// schemas are
// functions derived from it.
//
// In memory an object has the structure of its canonical JSON: the same keys; times, quantities and bytes as
// strings; and no field that JSON would omit. Encoding is therefore `JSON.stringify`, and decoding is parsing
// and checking.
//
//   presence       JSON when unset      protobuf when unset    explicit zero value
//   required       its zero value       written                kept
//   optional       omitted              written if scalar      omitted (an empty message is kept)
//   pointer        omitted              omitted                kept: zero and unset differ
//   embedded       {} (null for times)  written, empty         kept
//   inline         its fields are part of the parent's JSON; a nested message in protobuf

import type { MergeType } from "./merge/merge-type.ts";
import type { OpenApiVersion, SchemaObject } from "./openapi/schema-object.ts";

export type ScalarName =
  | "string"
  | "bool"
  | "int32"
  | "int64" // a number, or a bigint beyond 2^53
  | "uint32"
  | "uint64" // a number, or a bigint beyond 2^53
  | "double"
  | "float"
  | "bytes" // base64 text
  | "rawBytes" // a Uint8Array, for gRPC peers only
  | "time" // "2006-01-02T15:04:05Z"
  | "microTime" // "2006-01-02T15:04:05.000000Z"
  | "duration" // "1h0m0s"
  | "quantity" // in canonical form
  | "intOrString"
  | "rawExtension" // any JSON object, preserved byte for byte
  | "fieldsV1" // a field set, any JSON object
  | "json"; // any JSON value

declare const value: unique symbol;

/** Scalars, lists and maps have a `typeName` if their package defines a named type, such as `v1.PodPhase`. */
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
/** A reference that closes a recursion: the message is resolved when a derivation first needs it. */
export interface Recursive<T = unknown> {
  readonly shape: "recursive";
  readonly get: () => Message;
  /** The type allowed instead of the message: a boolean, a list of such messages, or a list of strings. */
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
  /** Set for top-level kinds, which have `kind` and `apiVersion`. */
  readonly kind?: KindName;
}
export type Shape = Scalar | ListOf | MapOf | Recursive | Message;

export interface KindName {
  /**
   * The group without the dialect's suffix: `events`, `rbac.authorization`, `apps`, or empty for the core
   * group.
   */
  readonly group: string;
  /** Whether the dialect's suffix is appended on the wire (`events.…`) or not (`apps`). */
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

/** State shared between the fast or careful decoder and an open kind. */
export interface OpenWalk {
  /** Whether the tree may be modified in place. */
  readonly own: boolean;
  /** Number of object keys seen so far. */
  keys: number;
  /** Remaining nesting depth allowed for the data. */
  depthLeft: number;
  /** Set when a field that no schema declares was dropped. */
  unknown: boolean;
  /** Set when lists contain numbers: the key counter does not check the spelling of those. */
  numbers: boolean;
  /** Paths of dropped fields; absent if the caller does not need them. */
  readonly unknownPaths?: string[];
  /** Paths of dropped fields in the metadata of embedded objects, which are reported last. */
  readonly unknownMetadata?: string[];
}

/** Fields outside the declaration, described by a schema that a kind defined at run time provides. */
export interface OpenFields {
  /** Returns the value of a field in canonical form, or undefined to drop the field. */
  read(key: string, value: unknown, walk: OpenWalk): unknown;
  /** Removes, in place, nulls for which the schema has neither `nullable` nor a default. */
  dropNulls(object: Record<string, unknown>): void;
  /** Drops, in place, metadata of the wrong type from stored objects that could not be decoded otherwise. */
  dropMalformed(object: Record<string, unknown>): void;
  /** Applies defaults in place. */
  applyDefaults(object: Record<string, unknown>): void;
  /** Returns the merge type of the whole object for server-side apply, declared fields included. */
  mergeType(): MergeType;
  /** Returns the published schema of the whole object; `metadata` is the reference for its metadata. */
  published(metadata: string, version: OpenApiVersion): SchemaObject;
  /** The list kind. */
  readonly listKind: string;
}

export interface MessageExtras {
  /** Handles fields outside the declared ones. */
  readonly open?: OpenFields;
  /** The full published name, if it does not follow from the package. */
  readonly publishedName?: string;
  /** The declaration of the same name that this one decodes differently; the published schema is the same. */
  readonly variantOf?: Message;
  /** The whole value has a single owner in server-side apply; also published as the map type. */
  readonly atomic?: boolean;
  /** The fields, by path, that field selectors may use; published if it is declared. */
  readonly selectable?: readonly string[];
  /** A union: the discriminator field and the members it selects. */
  readonly union?: { readonly discriminator?: string; readonly members: readonly string[] };
}

export interface FieldExtras {
  /** Applied when the field is unset (for `optional`, also when it is zero). */
  readonly default?: unknown;
  /** The default shown in published schemas if it differs from `default` (an empty message, say). */
  readonly publishedDefault?: unknown;
  /** Known values, published as an enum. An open enum is not enforced by structural validation. */
  readonly enum?: readonly string[];
  readonly openEnum?: boolean;
  /** Structural rules, applied by validate(). */
  readonly rules?: readonly Rule[];
  /**
   * The list type for server-side apply: map lists merge by `keys`, sets by value; anything else is atomic.
   */
  readonly list?:
    | { readonly type: "map"; readonly keys: readonly string[] }
    | { readonly type: "set" }
    | { readonly type: "atomic" };
  /** The map has a single owner in server-side apply. */
  readonly atomicMap?: boolean;
  /** Strategic merge patch: the patch strategy, and the merge key of list items. */
  readonly patch?: {
    readonly strategy?: "merge" | "replace" | "retainKeys" | "merge,retainKeys";
    readonly key?: string;
  };
  /** A required field that may be null because it has no zero value. */
  readonly nullable?: boolean;
  /** Overrides whether the published schema lists the field in `required`. */
  readonly published?: "required" | "optional";
  /**
   * A list or map for which decoding keeps an explicit empty value, because the kind's rules distinguish it
   * from an absent one. Empty values are never encoded.
   */
  readonly keepEmpty?: boolean;
  /** Published without a description, as in kube-apiserver, so that a reference is not wrapped. */
  readonly undescribed?: boolean;
  /** The published format, if it does not follow from the scalar. */
  readonly format?: string;
  /**
   * In protobuf the list is wrapped in a message, with the items in field 1. (Lists nested in maps and lists
   * always are.)
   */
  readonly wrapped?: boolean;
  /** A field of a later release: servers accept it only if this feature gate is enabled. */
  readonly gate?: string;
  /** The feature gates of enumerated values of later releases. */
  readonly valueGates?: Readonly<Record<string, string>>;
  /** An expression field of a later release: servers accept it from this minor version on. */
  readonly since?: number;
}

/** A validation rule; returns what is wrong with a value, or undefined. */
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
/** A message or, respectively: a boolean, a list of such messages, a list of strings. */
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
/** The message's fields are part of the parent's JSON. */
export const inline = <S extends Message>(number: number, shape: S): Field<S, "inline"> => ({
  number,
  shape,
  presence: "inline",
  doc: "",
  more: {},
});

/** Returns the name of a type in decoding errors: the last part of its package and its own name. */
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
     * Declares a named scalar, list or map type of this package. The name appears only in decoding errors.
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
