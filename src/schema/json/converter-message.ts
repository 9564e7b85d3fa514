// Error messages of kube-apiserver's unstructured converter for values of the wrong type. It handles
// strategic merge patches and applied configurations, which are converted from data instead of decoded from
// JSON.

import type { ScalarName, Shape } from "../shape.ts";
import type { DecodeError, Mismatch } from "./decode-error.ts";
import { integerOf } from "./parse.ts";
import { nameOf } from "./type-name.ts";

/** Translates a type error of the decoder into the converter's wording. */
export function converterMessage({ message, mismatch }: DecodeError): string {
  if (!mismatch) return message;
  const { into } = mismatch;
  switch (into.shape) {
    case "map":
      return `cannot restore map from ${kindOf(mismatch)}`;
    case "list":
      return `cannot restore slice from ${kindOf(mismatch)}`;
    case "scalar":
      return scalarWords(into.scalar, mismatch, message);
    default:
      return `cannot restore struct from: ${kindOf(mismatch)}`;
  }
}

/** Types with a custom unmarshaler, and the JSON type that they expect. */
const readers: Partial<Record<ScalarName, string>> = {
  time: "string",
  microTime: "string",
  duration: "string",
  intOrString: "int32",
};

function scalarWords(scalar: ScalarName, mismatch: Mismatch, message: string): string {
  const read = readers[scalar];
  if (read) return message.replace(/ into Go .*/, ` into Go value of type ${read}`);
  if (scalar === "bytes" || scalar === "rawBytes")
    return mismatch.given === "string"
      ? `error decoding from json: ${message}`
      : `cannot restore slice from ${kindOf(mismatch)}`;
  const kind = baseOf(mismatch.into, scalar);
  const given = kindOf(mismatch);
  // Only conversions that Go allows get as far as being rejected: an integer could be the code point of a
  // string.
  const refused = given === "int64" ? kind === "string" : given === "float64" && /^u?int/.test(kind);
  return refused ? `cannot convert ${given} to ${nameOf(mismatch.into)}` : `unrecognized type: ${kind}`;
}

/** Returns the underlying type of a named type; a byte has no scalar in declarations. */
const baseOf = (into: Shape, scalar: ScalarName): string =>
  nameOf(into) === "uint8" ? "uint8" : nameOf({ shape: "scalar", scalar });

/** Returns the Go kind that holds a value in untyped data. */
function kindOf({ given, literal = "" }: Mismatch): string {
  switch (given) {
    case "array":
      return "slice";
    case "object":
      return "map";
    case "number":
      return integerOf(literal) === undefined ? "float64" : "int64";
    default:
      return given;
  }
}
