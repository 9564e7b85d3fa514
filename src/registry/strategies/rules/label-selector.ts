// Validation and matching of structured label selectors.
import type { LabelSelector } from "#api";
import { type FieldError, forbiddenField, fromLabelSelector, invalidValue, required } from "#base";
import { validateLabels } from "../../object-meta.ts";
import { labelValueErrors, qualifiedNameErrors } from "./format.ts";

export function labelSelectorErrors(selector: LabelSelector | null | undefined, path: string): FieldError[] {
  if (!selector) return [];
  const errors = validateLabels(selector.matchLabels, `${path}.matchLabels`);
  selector.matchExpressions?.forEach(({ key, operator, values }, position) => {
    const at = `${path}.matchExpressions[${position}]`;
    if (operator === "In" || operator === "NotIn") {
      if (!values?.length)
        errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (values?.length)
        errors.push(
          forbiddenField(
            `${at}.values`,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
          ),
        );
    } else errors.push(invalidValue(`${at}.operator`, operator, "not a valid selector operator"));
    errors.push(...qualifiedNameErrors(key, `${at}.key`));
    values?.forEach((value, index) => errors.push(...labelValueErrors(value, `${at}.values[${index}]`)));
  });
  return errors;
}

export const isEmptySelector = ({ matchLabels, matchExpressions }: LabelSelector): boolean =>
  Object.keys(matchLabels ?? {}).length === 0 && !matchExpressions?.length;

/** Reports whether the selector is valid: every operator is known and has the values it needs. */
export const isUsable = (selector: LabelSelector): boolean => labelSelectorErrors(selector, "").length === 0;

/**
 * Reports whether the labels match; undefined when the selector is invalid. An absent selector matches
 * nothing.
 */
export function selects(
  selector: LabelSelector | null | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean | undefined {
  if (!selector) return false;
  return isUsable(selector)
    ? fromLabelSelector(selector).matches({ labels: labels ?? {}, fields: {} })
    : undefined;
}
