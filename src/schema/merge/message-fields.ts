// The fields of a message by JSON name, and its zero object.

import { flatFields, zeroOf } from "../flat.ts";
import type { Field, Message, Shape } from "../shape.ts";
import type { JsonObject } from "./json-value.ts";

const fields = new WeakMap<Message, ReadonlyMap<string, Field>>();

export function jsonFields(message: Message): ReadonlyMap<string, Field> {
  let known = fields.get(message);
  if (known === undefined)
    fields.set(message, (known = new Map(flatFields(message).map(({ name, field }) => [name, field]))));
  return known;
}

const zeros = new WeakMap<Message, JsonObject>();

/** Returns the object that a new one is compared with to determine the fields its creator wrote. */
export function emptyObject(message: Message): JsonObject {
  let known = zeros.get(message);
  if (known === undefined) zeros.set(message, (known = zeroOf(message) as JsonObject));
  return known;
}

/** Resolves a plain recursion to its message; a union is returned unchanged. */
export function resolved(shape: Shape): Shape {
  return shape.shape === "recursive" && shape.or === undefined ? shape.get() : shape;
}
