// Validation of standard conditions: unique types, a timestamp and a reason.
import type { Condition } from "#api";
import { type FieldError, duplicate, invalidValue, required, tooLong } from "#base";
import { notNegative } from "./numbers.ts";
import { supported } from "./one-of.ts";
import { qualifiedNameErrors } from "./format.ts";

export const conditionStatuses = ["False", "True", "Unknown"] as const;
const reasonShape = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const maxReasonLength = 1024;
const maxMessageLength = 32 * 1024;

export function conditionErrors(conditions: readonly Condition[] | undefined, path: string): FieldError[] {
  const seen = new Set<string>();
  return (conditions ?? []).flatMap((condition, position) => {
    const at = `${path}[${position}]`;
    const errors = seen.has(condition.type) ? [duplicate(`${at}.type`, condition.type)] : [];
    seen.add(condition.type);
    return [...errors, ...oneConditionErrors(condition, at)];
  });
}

function oneConditionErrors(
  { type, status, observedGeneration, lastTransitionTime, reason, message }: Condition,
  at: string,
): FieldError[] {
  const errors = [
    ...qualifiedNameErrors(type, `${at}.type`),
    ...supported(status, `${at}.status`, conditionStatuses),
  ];
  errors.push(...notNegative(observedGeneration, `${at}.observedGeneration`));
  if (!lastTransitionTime) errors.push(required(`${at}.lastTransitionTime`, "must be set"));
  if (!reason) errors.push(required(`${at}.reason`, "must be set"));
  else if (!reasonShape.test(reason))
    errors.push(
      invalidValue(
        `${at}.reason`,
        reason,
        "a condition reason must start with a letter, then letters, digits or '_,:', and end with a letter, a digit or '_'",
      ),
    );
  if ((reason ?? "").length > maxReasonLength) errors.push(tooLong(`${at}.reason`, reason, maxReasonLength));
  if ((message ?? "").length > maxMessageLength)
    errors.push(tooLong(`${at}.message`, message, maxMessageLength));
  return errors;
}
