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
