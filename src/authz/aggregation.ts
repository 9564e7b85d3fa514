// Aggregated cluster roles, whose rules are those of the roles selected by their selectors.

import { isDeepStrictEqual } from "node:util";
import type { ClusterRole, LabelSelector, PolicyRule } from "#api";

/**
 * Returns the rules an aggregated role should have, without duplicates and in order of role name; undefined
 * if the role is not aggregated.
 */
export function aggregatedRules(role: ClusterRole, all: Iterable<ClusterRole>): PolicyRule[] | undefined {
  if (!role.aggregationRule) return undefined;
  const byName = [...all]
    .filter((each) => each.metadata.name !== role.metadata.name)
    .toSorted((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  const rules: PolicyRule[] = [];
  for (const selector of role.aggregationRule.clusterRoleSelectors ?? []) {
    for (const gathered of byName) {
      if (!selects(selector, gathered.metadata.labels ?? {})) continue;
      for (const rule of gathered.rules ?? [])
        if (!rules.some((each) => isDeepStrictEqual(each, rule))) rules.push(rule);
    }
  }
  return rules;
}

function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const has = (key: string): boolean => Object.hasOwn(labels, key);
  const equal = Object.entries(matchLabels).every(([key, value]) => has(key) && labels[key] === value);
  return (
    equal &&
    matchExpressions.every(({ key, operator, values }) => {
      const among = has(key) && (values ?? []).includes(labels[key]!);
      switch (operator) {
        case "In":
          return among;
        case "NotIn":
          return !among;
        case "Exists":
          return has(key);
        case "DoesNotExist":
          return !has(key);
        default:
          return false;
      }
    })
  );
}
