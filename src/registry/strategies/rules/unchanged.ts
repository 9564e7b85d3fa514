// Validation of immutable fields.
import type { LabelSelector } from "#api";
import { type FieldError, invalidValue } from "#base";
import { isDeepStrictEqual } from "node:util";
import { goSelector } from "./go-syntax.ts";

/** Reports whether two values are equal; undefined equals null. */
export const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a ?? null, b ?? null);

export const unchanged = (value: unknown, old: unknown, field: string): FieldError[] =>
  same(value, old) ? [] : [invalidValue(field, value ?? null, "field is immutable")];

/** Same as unchanged, for the pod selector of an object. */
export const unchangedSelector = (
  value: LabelSelector | null,
  old: LabelSelector | null,
  field: string,
): FieldError[] =>
  same(value, old) ? [] : [invalidValue(field, value && goSelector(value), "field is immutable")];
