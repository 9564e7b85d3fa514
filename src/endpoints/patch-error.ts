// What is wrong with the result of a patch, in the words of kube-apiserver: the patch is the invalid value.
import { ApiError } from "#base";

/** Longer patches are shown by their beginning. */
const maxShownCharacters = 16 * 1024;

/** `shown` is the patch as kube-apiserver shows it: its bytes, or for a strategic merge patch Go's `%+v`. */
export function invalidPatch(shown: string, why: string): ApiError {
  const message = `Invalid value: ${JSON.stringify(shown.slice(0, maxShownCharacters))}: ${why}`;
  return new ApiError(422, "Invalid", ` "" is invalid: patch: ${message}`, {
    causes: [{ reason: "FieldValueInvalid", message, field: "patch" }],
  });
}

const mismatch = /^json: cannot unmarshal (\w+)(?: (\S+))? into Go .* of type (.+)$/;
const goKinds: Readonly<Record<string, string>> = { array: "slice", object: "map" };
const goTypes: Readonly<Record<string, string>> = {
  array: "[]interface {}",
  object: "map[string]interface {}",
};

/**
 * A strategic merge patch is not decoded from JSON but converted from data: a value of the wrong type is told
 * as Go's converter tells it.
 */
export function converterWords(decodeMessage: string): string {
  const [, kind = "", literal = "", type = ""] = mismatch.exec(decodeMessage) ?? [];
  if (kind === "") return decodeMessage;
  const number = /[.eE]/.test(literal) ? "float64" : "int64";
  const given = kind === "number" ? number : (goKinds[kind] ?? kind);
  if (type.startsWith("map[")) return `cannot restore map from ${given}`;
  if (type.startsWith("[]")) return `cannot restore slice from ${given}`;
  if (type.includes(".")) return `cannot restore struct from: ${given}`;
  return `cannot convert ${kind === "number" ? number : (goTypes[kind] ?? kind)} to ${type}`;
}
