// Roles and cluster roles. Any valid path segment is a valid name.
import { ClusterRole, type PolicyRule, Role } from "#api";
import { type FieldError, invalidValue, required } from "#base";
import { pathSegment } from "../names.ts";
import { strategy } from "../strategy.ts";
import { isUsable, labelSelectorErrors } from "./rules/label-selector.ts";

/** Validates rules; those of a namespaced role cannot contain non-resource URLs. */
export function ruleErrors(
  rules: readonly PolicyRule[] | null,
  namespaced: boolean,
  path = "rules",
): FieldError[] {
  return (rules ?? []).flatMap((rule, position) => {
    const at = `${path}[${position}]`;
    const errors = rule.verbs?.length
      ? []
      : [required(`${at}.verbs`, "verbs must contain at least one value")];
    if (rule.nonResourceURLs?.length) {
      const wrong = (detail: string) => invalidValue(`${at}.nonResourceURLs`, rule.nonResourceURLs, detail);
      if (namespaced) errors.push(wrong("namespaced rules cannot apply to non-resource URLs"));
      if (rule.apiGroups?.length || rule.resources?.length || rule.resourceNames?.length)
        errors.push(wrong("rules cannot apply to both regular resources and non-resource URLs"));
      return errors;
    }
    if (!rule.apiGroups?.length)
      errors.push(required(`${at}.apiGroups`, "resource rules must supply at least one api group"));
    if (!rule.resources?.length)
      errors.push(required(`${at}.resources`, "resource rules must supply at least one resource"));
    return errors;
  });
}

function aggregationErrors({ aggregationRule: rule }: ClusterRole): FieldError[] {
  if (!rule) return [];
  const path = "aggregationRule.clusterRoleSelectors";
  if (!rule.clusterRoleSelectors?.length)
    return [required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
  return rule.clusterRoleSelectors.flatMap((selector, position) => {
    const at = `${path}[${position}]`;
    return [
      ...labelSelectorErrors(selector, at),
      ...(isUsable(selector) ? [] : [invalidValue(at, "null", "invalid label selector.")]),
    ];
  });
}

const clusterErrors = (obj: ClusterRole): FieldError[] => [
  ...ruleErrors(obj.rules, false),
  ...aggregationErrors(obj),
];

export const role = strategy<Role>({
  resource: "roles",
  singular: "role",
  scope: "Namespaced",
  hub: Role,
  metaChecks: { wholeTwice: true },
  createOnUpdate: true,
  validateName: pathSegment,
  validate: ({ rules }) => ruleErrors(rules, true),
});

export const clusterRole = strategy<ClusterRole>({
  resource: "clusterroles",
  singular: "clusterrole",
  scope: "Cluster",
  hub: ClusterRole,
  metaChecks: { wholeTwice: true },
  createOnUpdate: true,
  validateName: pathSegment,
  validate: clusterErrors,
});
