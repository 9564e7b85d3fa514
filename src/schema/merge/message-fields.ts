// The fields of a message as its JSON shows them: inlined messages flattened, `apiVersion` and `kind` added for kinds.

import { type Field, type Message, type Shape, optional, string } from "../shape.ts";

const cache = new WeakMap<Message, ReadonlyMap<string, Field>>();

const typeFields: readonly [string, Field][] = [
  ["kind", optional(0, string, "The kind of the object.")],
  ["apiVersion", optional(0, string, "The group and version the object is written in.")],
];

export function jsonFields(message: Message): ReadonlyMap<string, Field> {
  const known = cache.get(message);
  if (known !== undefined) return known;
  const fields = new Map<string, Field>(message.kind === undefined ? [] : typeFields);
  for (const [name, field] of Object.entries(message.fields)) {
    const shape = resolved(field.shape);
    if (field.presence === "inline" && shape.shape === "message") for (const [inner, each] of jsonFields(shape)) fields.set(inner, each);
    else fields.set(name, field);
  }
  cache.set(message, fields);
  return fields;
}

/** The message behind a plain recursion; a union stays what it is. */
export function resolved(shape: Shape): Shape {
  return shape.shape === "recursive" && shape.or === undefined ? shape.get() : shape;
}
