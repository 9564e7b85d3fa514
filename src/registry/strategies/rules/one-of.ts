// Text fields with a fixed set of values.
import { type FieldError, notSupported, required } from "#base";

/** Refuses anything but the allowed values; an empty text is refused as missing. */
export const oneOf = (value: string | undefined, field: string, allowed: readonly string[]): FieldError[] =>
  !value ? [required(field)] : allowed.includes(value) ? [] : [notSupported(field, value, allowed)];

/** The same, where the empty text is just another value that is not allowed. */
export const supported = (
  value: string | undefined,
  field: string,
  allowed: readonly string[],
): FieldError[] => (allowed.includes(value ?? "") ? [] : [notSupported(field, value ?? "", allowed)]);
