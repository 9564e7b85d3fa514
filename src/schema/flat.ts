// The fields of a message as they appear in its JSON: inlined messages are flattened and the `kind` and
// `apiVersion` of a kind come first, in printing order.

import { type Field, type Message, type Shape, optional, string } from "./shape.ts";

export interface FlatField {
  readonly name: string;
  readonly field: Field;
  /** The message that declares the field; differs from the flattened message if the field was inlined. */
  readonly owner: Message;
}

const kindField = optional(
  0,
  string,
  "The kind of this object, in CamelCase. The endpoint the object is sent to knows it, and it never changes.",
);
const apiVersionField = optional(
  0,
  string,
  "APIVersion defines the group and version in which this object is written. Servers convert what they know and refuse what they do not.",
);

const cache = new WeakMap<Message, readonly FlatField[]>();

export function flatFields(message: Message): readonly FlatField[] {
  const known = cache.get(message);
  if (known) return known;
  const found: FlatField[] = message.kind
    ? [
        { name: "kind", field: kindField, owner: message },
        { name: "apiVersion", field: apiVersionField, owner: message },
      ]
    : [];
  for (const [name, field] of Object.entries(message.fields)) {
    if (field.presence === "inline") found.push(...flatFields(field.shape as Message));
    else found.push({ name, field, owner: message });
  }
  cache.set(message, found);
  return found;
}

/** Returns the zero value of a shape, used where a value is required but was not given. */
export function zeroOf(shape: Shape): unknown {
  switch (shape.shape) {
    case "list":
    case "map":
      return null;
    case "recursive":
      return shape.or === "bool" ? false : shape.or ? null : zeroMessage(shape.get());
    case "message":
      return zeroMessage(shape);
    case "scalar":
      return scalarZeros[shape.scalar];
  }
}

const scalarZeros = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  uint32: 0,
  uint64: 0,
  double: 0,
  float: 0,
  bytes: null,
  rawBytes: null,
  time: null,
  microTime: null,
  duration: "0s",
  quantity: "0",
  intOrString: 0,
  rawExtension: null,
  fieldsV1: null,
  json: null,
} as const;

export const zeroOfField = (field: Field): unknown => (field.more.nullable ? null : zeroOf(field.shape));

/** Reports whether the field always appears in JSON. */
export const alwaysShown = (field: Field): boolean =>
  field.presence === "required" || field.presence === "embedded";

function zeroMessage(message: Message): Record<string, unknown> {
  const zero: Record<string, unknown> = {};
  for (const { name, field } of flatFields(message)) if (alwaysShown(field)) zero[name] = zeroOfField(field);
  return zero;
}

/**
 * Scalars that are omitted from JSON when zero and optional. All others are pointers or structs in the
 * reference.
 */
export const dropsZero: ReadonlySet<string> = new Set([
  "string",
  "bool",
  "int32",
  "int64",
  "uint32",
  "uint64",
  "double",
  "float",
  "bytes",
]);
