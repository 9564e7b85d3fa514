// What kube-apiserver says of a value of the wrong type that it converts from data instead of decoding it from
// JSON: merge patches by strategy, and applied configurations.

import type { ScalarName, Shape } from "../shape.ts";
import type { DecodeError, Mismatch } from "./decode-error.ts";
import { integerOf } from "./parse.ts";
import { nameOf } from "./type-name.ts";

/** The words of the decoder, as the converter puts them. */
export function converterWords({ message, mismatch }: DecodeError): string {
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

/** Values that read themselves, and what they read. */
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
  // Only what Go could convert gets as far as being refused: an integer could be the code point of a text.
  const refused = given === "int64" ? kind === "string" : given === "float64" && /^u?int/.test(kind);
  return refused ? `cannot convert ${given} to ${nameOf(mismatch.into)}` : `unrecognized type: ${kind}`;
}

/** The type under a type's name; a byte has no scalar of its own. */
const baseOf = (into: Shape, scalar: ScalarName): string =>
  nameOf(into) === "uint8" ? "uint8" : nameOf({ shape: "scalar", scalar });

/** What Go calls the type that data of no declared type is held in. */
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
