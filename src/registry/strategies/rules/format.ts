// Format validation: one error for each problem of a value.
import { type FieldError, invalidValue } from "#base";
import { labelValueProblems, portNumberProblems, qualifiedNameProblems } from "#schema";

export const formatErrors = <T>(
  value: T,
  field: string,
  problems: (value: T) => readonly string[],
): FieldError[] => problems(value).map((detail) => invalidValue(field, value, detail));

export const qualifiedNameErrors = (value: string, field: string): FieldError[] =>
  formatErrors(value, field, qualifiedNameProblems);
export const labelValueErrors = (value: string, field: string): FieldError[] =>
  formatErrors(value, field, labelValueProblems);
export const portErrors = (value: number, field: string): FieldError[] =>
  formatErrors(value, field, portNumberProblems);

/** Returns the problems of a name that must be a single path segment. */
export const pathSegmentProblems = (name: string): string[] =>
  name === "." || name === ".."
    ? [`may not be '${name}'`]
    : ["/", "%"].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
