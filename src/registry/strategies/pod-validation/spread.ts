// Validation of topology spread constraints.
import type { TopologySpreadConstraint } from "#api";
import { type FieldError, duplicate, forbiddenField, invalidValue, notSupported, required } from "#base";
import { qualifiedNameErrors } from "../rules/format.ts";
import { labelSelectorErrors } from "../rules/label-selector.ts";
import { positive } from "../rules/numbers.ts";

const actions = ["DoNotSchedule", "ScheduleAnyway"];
const inclusions = ["Honor", "Ignore"];

export function spreadErrors(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  tolerateSelectors: boolean,
  path: string,
): FieldError[] {
  const lastAt = new Map((constraints ?? []).map((constraint, position) => [placeOf(constraint), position]));
  return (constraints ?? []).flatMap((constraint, position) => {
    const at = `${path}[${position}]`;
    const {
      maxSkew,
      topologyKey,
      whenUnsatisfiable: action,
      minDomains,
      nodeAffinityPolicy,
      nodeTaintsPolicy,
      labelSelector,
    } = constraint;
    const errors = positive(maxSkew, `${at}.maxSkew`);
    if (!topologyKey) errors.push(required(`${at}.topologyKey`, "can not be empty"));
    if (!actions.includes(action)) errors.push(notSupported(`${at}.whenUnsatisfiable`, action, actions));
    if (lastAt.get(placeOf(constraint))! > position)
      errors.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${action}}`));
    errors.push(...positive(minDomains, `${at}.minDomains`));
    if (minDomains !== undefined && action !== "DoNotSchedule")
      errors.push(
        invalidValue(
          `${at}.minDomains`,
          minDomains,
          `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`,
        ),
      );
    for (const [key, value] of Object.entries({ nodeAffinityPolicy, nodeTaintsPolicy }))
      if (value !== undefined && !inclusions.includes(value))
        errors.push(notSupported(`${at}.${key}`, value, inclusions));
    errors.push(...matchLabelKeyErrors(constraint, `${at}.matchLabelKeys`));
    return tolerateSelectors
      ? errors
      : [...errors, ...labelSelectorErrors(labelSelector, `${at}.labelSelector`)];
  });
}

const placeOf = ({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string =>
  JSON.stringify([topologyKey, whenUnsatisfiable]);

function matchLabelKeyErrors(
  { matchLabelKeys, labelSelector }: TopologySpreadConstraint,
  path: string,
): FieldError[] {
  if (!matchLabelKeys?.length) return [];
  const errors = labelSelector
    ? []
    : [forbiddenField(path, "must not be specified when labelSelector is not set")];
  const selected = new Set([
    ...Object.keys(labelSelector?.matchLabels ?? {}),
    ...(labelSelector?.matchExpressions ?? []).map(({ key }) => key),
  ]);
  matchLabelKeys.forEach((key, position) => {
    errors.push(...qualifiedNameErrors(key, `${path}[${position}]`));
    if (selected.has(key))
      errors.push(
        invalidValue(`${path}[${position}]`, key, "exists in both matchLabelKeys and labelSelector"),
      );
  });
  return errors;
}
