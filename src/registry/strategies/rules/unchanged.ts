// Fields that stay as they were made.
import { type FieldError, invalidValue } from "#base";
import { isDeepStrictEqual } from "node:util";

/** Whether two values mean the same: what is not set equals what is null. */
export const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a ?? null, b ?? null);

export const unchanged = (value: unknown, old: unknown, field: string): FieldError[] =>
  same(value, old) ? [] : [invalidValue(field, value ?? null, "field is immutable")];
