// Text fields that hold names.
import { type FieldError, invalidValue } from "#base";
import type { NameRule } from "../../object-meta.ts";

/** What the rule says about the field's text. */
export function named(value: string, field: string, rule: NameRule): FieldError[] {
  const wrong = rule(value);
  return wrong ? [invalidValue(field, value, wrong)] : [];
}
