// Fields that stay as they were made.
import type { LabelSelector } from "#api";
import { type FieldError, invalidValue } from "#base";
import { isDeepStrictEqual } from "node:util";
import { goSelector } from "./go-syntax.ts";

/** Whether two values mean the same: what is not set equals what is null. */
export const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a ?? null, b ?? null);

export const unchanged = (value: unknown, old: unknown, field: string): FieldError[] =>
  same(value, old) ? [] : [invalidValue(field, value ?? null, "field is immutable")];

/** The same for what chooses an object's pods. */
export const unchangedSelector = (
  value: LabelSelector | null,
  old: LabelSelector | null,
  field: string,
): FieldError[] =>
  same(value, old) ? [] : [invalidValue(field, value && goSelector(value), "field is immutable")];
