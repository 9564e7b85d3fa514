// Validation common to workload kinds: a selector that must match the pod template, and counters in the
// status.
import type { LabelSelector, PodTemplateSpec } from "#api";
import { type FieldError, forbiddenField, invalidValue, required } from "#base";
import { dnsLabel } from "../../names.ts";
import { goMap, goSelector } from "./go-syntax.ts";
import { isEmptySelector, isUsable, labelSelectorErrors, selects } from "./label-selector.ts";
import { notNegative } from "./numbers.ts";
import { supported } from "./one-of.ts";

export interface Workload {
  readonly selector: LabelSelector | null;
  readonly template: PodTemplateSpec;
}

/**
 * Validates that the selector is present, not empty and matches the template; only then is the template
 * validated.
 */
export function workloadErrors(
  { selector, template }: Workload,
  path: string,
  kindName: string,
  templateErrors: () => FieldError[],
): FieldError[] {
  const at = `${path}.selector`;
  const errors = selector ? labelSelectorErrors(selector, at) : [required(at)];
  if (selector && isEmptySelector(selector))
    errors.push(invalidValue(at, goSelector(selector), `empty selector is invalid for ${kindName}`));
  if (selector && !isUsable(selector))
    return [...errors, invalidValue(at, goSelector(selector), "invalid label selector")];
  if (!selects(selector, template.metadata.labels)) errors.push(mismatch(template, path));
  return [...errors, ...templateErrors()];
}

export const mismatch = ({ metadata }: PodTemplateSpec, path: string): FieldError =>
  invalidValue(
    `${path}.template.metadata.labels`,
    goMap(metadata.labels),
    "`selector` does not match template `labels`",
  );

/** Validates the pod template of a long-running workload: no deadline and restart policy Always. */
export function longRunningErrors({ spec }: PodTemplateSpec, path: string, kindName: string): FieldError[] {
  const errors = supported(spec.restartPolicy, `${path}.spec.restartPolicy`, ["Always"]);
  if (spec.activeDeadlineSeconds !== undefined)
    errors.push(
      forbiddenField(
        `${path}.spec.activeDeadlineSeconds`,
        `activeDeadlineSeconds in ${kindName} is not Supported`,
      ),
    );
  return errors;
}

/** Validates that a persistent disk shared by several pods is mounted read-only. */
export const sharedDiskErrors = ({ spec }: PodTemplateSpec, path: string): FieldError[] =>
  (spec.volumes ?? []).flatMap(({ gcePersistentDisk: disk }, position) =>
    disk && !disk.readOnly
      ? [
          invalidValue(
            `${path}.spec.volumes[${position}].gcePersistentDisk.readOnly`,
            false,
            "must be true for replicated pods > 1; " +
              "GCE PD can only be mounted on multiple machines if it is read-only",
          ),
        ]
      : [],
  );

type Counters = Readonly<Record<string, unknown>>;
const count = (status: Counters, key: string): number => Number(status[key] ?? 0);

export const counterErrors = (status: object, keys: readonly string[]): FieldError[] =>
  keys.flatMap((key) => notNegative(count(status as Counters, key), `status.${key}`));

/** Validates that no count exceeds the total, and that available pods do not exceed ready ones. */
export function shareErrors(
  status: object,
  keys: readonly string[],
  readyField = "readyReplicas",
): FieldError[] {
  const counters = status as Counters;
  const over = (key: string, limit: string, field = `status.${limit}`): FieldError[] =>
    count(counters, key) > count(counters, limit)
      ? [invalidValue(`status.${key}`, count(counters, key), `cannot be greater than ${field}`)]
      : [];
  return [
    ...keys.flatMap((key) => over(key, "replicas")),
    ...over("availableReplicas", "readyReplicas", readyField),
  ];
}

/** Validates a counter that never decreases. */
export const notDecremented = (
  value: number | undefined,
  old: number | undefined,
  field: string,
): FieldError[] =>
  old !== undefined && (value ?? -1) < old ? [invalidValue(field, value ?? 0, "cannot be decremented")] : [];

/** Warns about names that are not DNS labels, since names and hostnames of pods are derived from them. */
export const podNameWarnings = (name: string | undefined): string[] => {
  const wrong = dnsLabel(name ?? "");
  return wrong.length > 0
    ? [
        `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${wrong.join(" ")}]`,
      ]
    : [];
};
