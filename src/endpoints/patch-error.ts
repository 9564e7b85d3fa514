// kube-apiserver's error for an invalid result of a patch: the patch is the invalid value.
import { ApiError } from "#base";

/** Longer patches are truncated. */
const maxShownCharacters = 16 * 1024;

/** `shown` is the patch as kube-apiserver prints it: its bytes, or Go's `%+v` for a strategic merge patch. */
export function invalidPatch(shown: string, reason: string): ApiError {
  const message = `Invalid value: ${JSON.stringify(shown.slice(0, maxShownCharacters))}: ${reason}`;
  return new ApiError(422, "Invalid", ` "" is invalid: patch: ${message}`, {
    causes: [{ reason: "FieldValueInvalid", message, field: "patch" }],
  });
}
