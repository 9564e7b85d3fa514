// Some kinds check a changed object as a new one and again as a change; clients know every finding twice.
import type { FieldError } from "#base";

export const duplicateErrors = (errors: readonly FieldError[]): FieldError[] => [...errors, ...errors];
