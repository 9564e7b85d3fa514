// For kinds whose changed objects the reference validates as new and again as changed, so that every error is
// reported twice.
import type { FieldError } from "#base";

export const duplicateErrors = (errors: readonly FieldError[]): FieldError[] => [...errors, ...errors];
