// Validation of enumerated text fields.
import { type FieldError, notSupported, required } from "#base";

/** Validates that a value is allowed; an empty text is reported as missing. */
export const oneOf = (value: string | undefined, field: string, allowed: readonly string[]): FieldError[] =>
  !value ? [required(field)] : allowed.includes(value) ? [] : [notSupported(field, value, allowed)];

/** Same as oneOf, with an empty text reported as unsupported value. */
export const supported = (
  value: string | undefined,
  field: string,
  allowed: readonly string[],
): FieldError[] => (allowed.includes(value ?? "") ? [] : [notSupported(field, value ?? "", allowed)]);
