// Validation of numbers and percentages.
import { type FieldError, type IntOrString, invalidValue, isPercent } from "#base";
import { goIntOrString } from "./go-syntax.ts";

export const notNegative = (value: number | bigint | undefined, field: string): FieldError[] =>
  value !== undefined && value < 0 ? [invalidValue(field, value, "must be greater than or equal to 0")] : [];

export const positive = (value: number | undefined, field: string): FieldError[] =>
  value !== undefined && value <= 0 ? [invalidValue(field, value, "must be greater than zero")] : [];

/** Validates the length of a list or text; the error contains only the length. */
export const longerThan = (length: number, most: number, field: string): FieldError[] =>
  length > most
    ? [{ type: "FieldValueTooLong", field, value: length, detail: `may not be longer than ${most}` }]
    : [];

/** Validates a non-negative count or a percentage. */
export function countOrPercent(value: IntOrString, field: string): FieldError[] {
  if (typeof value === "number") return notNegative(value, field);
  return isPercent(value)
    ? []
    : [
        invalidValue(
          field,
          goIntOrString(value),
          "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ),
      ];
}

export const atMostWhole = (value: IntOrString, field: string): FieldError[] =>
  isPercent(value) && percentOf(value) > 100
    ? [invalidValue(field, goIntOrString(value), "must not be greater than 100%")]
    : [];

/** Returns the number before the percent sign, or the number itself; 0 for anything else. */
export const percentOf = (value: IntOrString): number =>
  typeof value === "number"
    ? value
    : isPercent(value) || /^[+-]?\d+$/.test(value)
      ? Number.parseInt(value, 10)
      : 0;
