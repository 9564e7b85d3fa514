// The value of a kind in which nothing was set: what a new object is compared with to see which fields its creator wrote.

import type { Field, Message, Scalar } from "../shape.ts";
import type { Json, JsonObject } from "./json-value.ts";
import { jsonFields, resolved } from "./message-fields.ts";

const made = new WeakMap<Message, JsonObject>();

export function zeroOf(message: Message): JsonObject {
  const known = made.get(message);
  if (known !== undefined) return known;
  const zero: Record<string, Json> = {};
  for (const [name, field] of jsonFields(message)) {
    const value = zeroField(field);
    if (value !== undefined) zero[name] = value;
  }
  made.set(message, zero);
  return zero;
}

function zeroField({ presence, shape: declared, more }: Field): Json | undefined {
  if (presence !== "required" && presence !== "embedded") return undefined;
  const shape = resolved(declared);
  if (shape.shape === "message") return presence === "embedded" || more.nullable !== true ? zeroOf(shape) : null;
  return shape.shape !== "scalar" || more.nullable === true ? null : zeroScalar(shape);
}

function zeroScalar({ scalar }: Scalar): Json {
  switch (scalar) {
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "uint32":
    case "uint64":
    case "float":
    case "double":
    case "intOrString":
      return 0;
    case "quantity":
      return "0";
    case "duration":
      return "0s";
    case "string":
      return "";
    default:
      return null;
  }
}
