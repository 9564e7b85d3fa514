// Pod failure policies of jobs: each rule matches either exit codes or pod conditions.
import type {
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
  PodSpec,
} from "#api";
import { type FieldError, duplicate, invalidValue, omitted, required, tooMany } from "#base";
import { conditionStatuses } from "./conditions.ts";
import { goTexts } from "./go-syntax.ts";
import { oneOf } from "./one-of.ts";
import { qualifiedNameErrors } from "./format.ts";
import { repeats } from "./repeats.ts";

const maxRules = 20;
const maxPatterns = 20;
const maxCodes = 255;

interface PolicyOptions {
  readonly path: string;
  /** Whether a rule may fail the index of a pod. */
  readonly failsIndexes: boolean;
}

export function failurePolicyErrors(
  { rules }: PodFailurePolicy,
  pod: PodSpec,
  limitPerIndex: number | undefined,
  { path, failsIndexes }: PolicyOptions,
): FieldError[] {
  const names = new Set([...(pod.containers ?? []), ...(pod.initContainers ?? [])].map(({ name }) => name));
  const at = `${path}.rules`;
  const actions = failsIndexes ? ["Count", "FailIndex", "FailJob", "Ignore"] : ["Count", "FailJob", "Ignore"];
  const errors = (rules?.length ?? 0) > maxRules ? [tooMany(at, rules!.length, maxRules)] : [];
  return [
    ...errors,
    ...(rules ?? []).flatMap((rule, position) => [
      ...named(rule.action, `${at}[${position}].action`, actions),
      ...(failsIndexes && rule.action === "FailIndex" && limitPerIndex === undefined
        ? [
            invalidValue(
              `${at}[${position}].action`,
              rule.action,
              "requires the backoffLimitPerIndex to be set",
            ),
          ]
        : []),
      ...ruleErrors(rule, names, `${at}[${position}]`),
    ]),
  ];
}

/** Validates an enumerated value; the error for a missing one lists the valid values. */
const named = (value: string | undefined, field: string, allowed: readonly string[]): FieldError[] =>
  value
    ? oneOf(value, field, allowed)
    : [required(field, `valid values: [${allowed.map((text) => JSON.stringify(text)).join(" ")}]`)];

function ruleErrors(
  { onExitCodes, onPodConditions }: PodFailurePolicyRule,
  names: ReadonlySet<string>,
  at: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (onExitCodes) errors.push(...exitCodeErrors(onExitCodes, names, `${at}.onExitCodes`));
  const patterns = onPodConditions ?? [];
  const path = `${at}.onPodConditions`;
  if (patterns.length > maxPatterns) errors.push(tooMany(path, patterns.length, maxPatterns));
  patterns.forEach(({ type, status }, position) =>
    errors.push(
      ...qualifiedNameErrors(type, `${path}[${position}].type`),
      ...named(status, `${path}[${position}].status`, conditionStatuses),
    ),
  );
  if (onExitCodes && patterns.length > 0)
    errors.push(
      invalidValue(at, omitted, "specifying both OnExitCodes and OnPodConditions is not supported"),
    );
  if (!onExitCodes && patterns.length === 0)
    errors.push(invalidValue(at, omitted, "specifying one of OnExitCodes and OnPodConditions is required"));
  return errors;
}

function exitCodeErrors(
  { operator, containerName, values }: PodFailurePolicyOnExitCodesRequirement,
  names: ReadonlySet<string>,
  at: string,
): FieldError[] {
  const errors = named(operator, `${at}.operator`, ["In", "NotIn"]);
  if (typeof containerName === "string" && !names.has(containerName))
    errors.push(
      invalidValue(
        `${at}.containerName`,
        containerName,
        "must be one of the container or initContainer names in the pod template",
      ),
    );
  const codes = values ?? [];
  if (codes.length === 0)
    errors.push(
      invalidValue(`${at}.values`, goTexts("int32", values && []), "at least one value is required"),
    );
  else if (codes.length > maxCodes) errors.push(tooMany(`${at}.values`, codes.length, maxCodes));
  const repeated = repeats<number>();
  codes.forEach((code, position) => {
    if (operator === "In" && code === 0)
      errors.push(invalidValue(`${at}.values[${position}]`, code, "must not be 0 for the In operator"));
    if (repeated(code)) errors.push(duplicate(`${at}.values[${position}]`, code));
  });
  if (codes.some((code, position) => position > 0 && codes[position - 1]! > code))
    errors.push(invalidValue(`${at}.values`, codes, "must be ordered"));
  return errors;
}
