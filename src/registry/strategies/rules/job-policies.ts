// Fields of jobs that later releases added: limits per index, and policies of success and replacement.
import type { JobSpec, SuccessPolicyRule } from "#api";
import { type FieldError, invalidValue, notSupported, required, tooLong, tooMany } from "#base";
import { domainPathErrors } from "#schema";
import { countIndexes, parseIndexRanges } from "./index-ranges.ts";
import { notNegative } from "./numbers.ts";

const maxIndexes = 100_000;
/** Limit of parallelism and failed indexes of jobs with more completions than that. */
const maxOfLargeJobs = 10_000;
const maxManagerLength = 63;
const maxRules = 20;
const maxIndexTextLength = 64 * 1024;

export function indexLimitErrors(spec: JobSpec, path: string): FieldError[] {
  const { backoffLimitPerIndex: limit, maxFailedIndexes: most, completions, parallelism } = spec;
  if (limit === undefined && most === undefined) return [];
  const [limitField, mostField] = [`${path}.backoffLimitPerIndex`, `${path}.maxFailedIndexes`];
  const errors = [...notNegative(limit, limitField), ...notNegative(most, mostField)];
  if (most !== undefined && limit === undefined)
    errors.push(required(limitField, "when maxFailedIndexes is specified"));
  if ((spec.completionMode ?? "NonIndexed") === "NonIndexed")
    for (const [field, value] of [
      [limitField, limit],
      [mostField, most],
    ] as const)
      if (value !== undefined) errors.push(invalidValue(field, value, "requires indexed completion mode"));
  if (spec.completionMode !== "Indexed") return errors;
  if (completions !== undefined && most !== undefined && most > completions)
    errors.push(invalidValue(mostField, most, "must be less than or equal to completions"));
  if (most !== undefined && most > maxIndexes)
    errors.push(invalidValue(mostField, most, `must be less than or equal to ${maxIndexes}`));
  if (completions === undefined || completions <= maxIndexes || limit === undefined) return errors;
  if (most === undefined)
    errors.push(required(mostField, `must be specified when completions is above ${maxIndexes}`));
  for (const [field, value] of [
    [`${path}.parallelism`, parallelism],
    [mostField, most],
  ] as const)
    if (value !== undefined && value > maxOfLargeJobs)
      errors.push(
        invalidValue(
          field,
          value,
          `must be less than or equal to ${maxOfLargeJobs} when completions are above ${maxIndexes} and used with backoff limit per index`,
        ),
      );
  return errors;
}

export function managerErrors({ managedBy }: JobSpec, path: string): FieldError[] {
  if (managedBy === undefined) return [];
  const field = `${path}.managedBy`;
  const errors = domainPathErrors(managedBy, field);
  if (Buffer.byteLength(managedBy) > maxManagerLength)
    errors.push(tooLong(field, managedBy, maxManagerLength));
  return errors;
}

export function replacementErrors(
  { podReplacementPolicy: policy, podFailurePolicy }: JobSpec,
  path: string,
): FieldError[] {
  const allowed = podFailurePolicy ? ["Failed"] : ["Failed", "TerminatingOrFailed"];
  return policy === undefined || allowed.includes(policy)
    ? []
    : [notSupported(`${path}.podReplacementPolicy`, policy, allowed)];
}

export function successPolicyErrors(spec: JobSpec, path: string): FieldError[] {
  const { successPolicy: policy } = spec;
  if (!policy) return [];
  const field = `${path}.successPolicy`;
  if (spec.completionMode !== "Indexed")
    return [invalidValue(field, policy, "requires indexed completion mode")];
  const rules = policy.rules ?? [];
  const errors: FieldError[] = [];
  if (rules.length === 0)
    errors.push(
      required(`${field}.rules`, "at least one rules must be specified when the successPolicy is specified"),
    );
  if (rules.length > maxRules) errors.push(tooMany(`${field}.rules`, rules.length, maxRules));
  return [
    ...errors,
    ...rules.flatMap((rule, at) => ruleErrors(rule, spec.completions ?? 0, `${field}.rules[${at}]`)),
  ];
}

function ruleErrors(
  { succeededIndexes: text, succeededCount: count }: SuccessPolicyRule,
  completions: number,
  at: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (text === undefined && count === undefined)
    errors.push(required(at, "at least one of succeededCount or succeededIndexes must be specified"));
  let total = 0;
  if (text !== undefined) {
    const field = `${at}.succeededIndexes`;
    if (Buffer.byteLength(text) > maxIndexTextLength) errors.push(tooLong(field, "", maxIndexTextLength));
    const ranges = parseIndexRanges(text, completions);
    if (typeof ranges === "string")
      errors.push(invalidValue(field, text, `error parsing succeededIndexes: ${ranges}`));
    else total = countIndexes(ranges);
  }
  if (count === undefined) return errors;
  const field = `${at}.succeededCount`;
  errors.push(...notNegative(count, field));
  const most = (limit: number, what: string): string => `must be less than or equal to ${limit} (${what})`;
  if (count > completions)
    errors.push(invalidValue(field, count, most(completions, "the number of specified completions")));
  if (text !== undefined && count > total)
    errors.push(
      invalidValue(
        field,
        count,
        most(total, "the number of indexes in the specified succeededIndexes field"),
      ),
    );
  return errors;
}
