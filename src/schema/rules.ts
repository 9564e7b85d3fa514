// Predefined validation rules for declarations: `required(1, string, "…", { rules: [filled, maxLength(63)]
// })`.

import {
  type Problems, cIdentifierProblems, configKeyProblems, dns1035LabelProblems, dns1123LabelProblems, dns1123SubdomainProblems, environmentNameProblems, ipProblems, labelValueProblems, patternProblem,
  portNameProblems, portNumberProblems, qualifiedNameProblems, rangeProblem,
} from "./formats.ts"; // prettier-ignore
import type { Rule, RuleFinding } from "./shape.ts";

/** The value must be present and not empty. The only rule that also applies to absent values. */
export const filled: Rule = (value: unknown) =>
  isEmpty(value) ? { type: "FieldValueRequired", detail: "" } : undefined;

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  (Array.isArray(value) ? value.length === 0 : typeof value === "object" && Object.keys(value).length === 0);

/** Limits the length of a string in bytes. */
export const maxLength =
  (max: number): Rule =>
  (value: string) =>
    Buffer.byteLength(value) > max
      ? { type: "FieldValueTooLong", detail: `must have at most ${max} bytes` }
      : undefined;

/** Limits the number of list items or map entries. */
export const maxItems =
  (max: number): Rule =>
  (value: object) =>
    Object.keys(value).length > max
      ? { type: "FieldValueTooMany", detail: `must have at most ${max} items` }
      : undefined;

const invalid = (detail: string): RuleFinding => ({ type: "FieldValueInvalid", detail });

export const minimum =
  (min: number): Rule =>
  (value: number | bigint) =>
    value < min ? invalid(`must be greater than or equal to ${min}`) : undefined;
export const maximum =
  (max: number): Rule =>
  (value: number | bigint) =>
    value > max ? invalid(`must be less than or equal to ${max}`) : undefined;
export const between =
  (min: number, max: number): Rule =>
  (value: number | bigint) =>
    value < min || value > max ? invalid(rangeProblem(min, max)) : undefined;

/** The whole string must match. `sentence` describes the expected format. */
export const pattern = (expression: string, sentence: string, ...examples: readonly string[]): Rule => {
  const whole = new RegExp(`^(?:${expression})$`);
  const problem = patternProblem(sentence, expression, ...examples);
  return (value: string) => (whole.test(value) ? undefined : invalid(problem));
};

const formatted =
  <T>(problems: (value: T) => Problems): Rule =>
  (value: never) =>
    problems(value).map(invalid);

export const dns1123Label = formatted(dns1123LabelProblems);
export const dns1123Subdomain = formatted(dns1123SubdomainProblems);
export const dns1035Label = formatted(dns1035LabelProblems);
export const qualifiedName = formatted(qualifiedNameProblems);
export const labelValue = formatted(labelValueProblems);
export const cIdentifier = formatted(cIdentifierProblems);
export const environmentName = formatted(environmentNameProblems);
export const configKey = formatted(configKeyProblems);
export const portNumber = formatted(portNumberProblems);
export const portName = formatted(portNameProblems);
export const ipAddress = formatted(ipProblems);
