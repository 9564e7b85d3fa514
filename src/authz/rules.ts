// Policy rules: matching of actions, and coverage of one set by another.

import type { PolicyRule } from "#api";
import { withoutTrailing } from "#base";
import type { Attributes } from "./authorizer.ts";

const none: readonly string[] = [];
const some = (list: readonly string[] | null | undefined): readonly string[] => list ?? none;

/** Reports whether a rule allows an action. */
export function ruleAllows(rule: PolicyRule, { verb, resource, path = "" }: Attributes): boolean {
  if (!hasOrAll(some(rule.verbs), verb)) return false;
  if (!resource) return some(rule.nonResourceURLs).some((pattern) => urlCovers(pattern, path));
  return (
    hasOrAll(some(rule.apiGroups), resource.group) &&
    resourceMatches(some(rule.resources), resource.resource, resource.subresource) &&
    nameMatches(rule, resource.name)
  );
}

function nameMatches(rule: PolicyRule, name: string): boolean {
  const names = some(rule.resourceNames);
  return names.length === 0 || names.includes(name);
}

function resourceMatches(resources: readonly string[], resource: string, subresource: string): boolean {
  const whole = subresource ? `${resource}/${subresource}` : resource;
  return resources.some(
    (each) => each === "*" || each === whole || (subresource !== "" && each === `*/${subresource}`),
  );
}

const hasOrAll = (list: readonly string[], wanted: string): boolean =>
  list.includes("*") || list.includes(wanted);
const urlCovers = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith("*") && path.startsWith(withoutTrailing(pattern, "*")));

/**
 * Returns the parts of `rules` that `owned` does not cover, each with one verb, one resource and at most one
 * name. Empty if everything is covered.
 */
export function uncovered(rules: readonly PolicyRule[], owned: readonly PolicyRule[]): PolicyRule[] {
  const missing: PolicyRule[] = [];
  for (const part of uncoveredParts(rules, owned)) if (part) missing.push(part);
  return missing;
}

/**
 * Like uncovered, in steps that allow interleaving other work: yields undefined for each part that is
 * covered.
 */
export function* uncoveredParts(
  rules: readonly PolicyRule[],
  owned: readonly PolicyRule[],
): Generator<PolicyRule | undefined> {
  const held = heldRules(owned);
  for (const rule of rules) {
    // Shortcut: a rule covered whole has no missing parts.
    if (held(rule).some((each) => covers(each, rule))) yield undefined;
    else
      for (const atom of atoms(rule)) yield held(atom).some((each) => covers(each, atom)) ? undefined : atom;
  }
}

/**
 * Yields each of `rules` that no single rule of `owned` covers whole, and undefined for each of the others.
 */
export function* notCoveredWhole(
  rules: readonly PolicyRule[],
  owned: readonly PolicyRule[],
): Generator<PolicyRule | undefined> {
  const held = heldRules(owned);
  for (const rule of rules) yield held(rule).some((each) => covers(each, rule)) ? undefined : rule;
}

/**
 * Returns a function that selects the rules that can cover a given one: those with its first group or all
 * groups, or with paths if it has paths.
 */
function heldRules(owned: readonly PolicyRule[]): (rule: PolicyRule) => readonly PolicyRule[] {
  const byGroup = new Map<string, PolicyRule[]>();
  for (const rule of owned) {
    const groups = new Set(some(rule.apiGroups));
    for (const group of groups.has("*") ? byEveryGroup : groups) {
      const those = byGroup.get(group);
      if (those) those.push(rule);
      else byGroup.set(group, [rule]);
    }
  }
  const everyGroup = byGroup.get("*") ?? [];
  const found = new Map<string, readonly PolicyRule[]>();
  return ({ apiGroups }) => {
    const group = some(apiGroups)[0];
    if (group === undefined) return owned;
    let those = found.get(group);
    if (!those)
      found.set(group, (those = group === "*" ? everyGroup : [...(byGroup.get(group) ?? []), ...everyGroup]));
    return those;
  };
}

const byEveryGroup = ["*"];

/**
 * Returns the number of parts of rules, without enumerating them: a few lists of some hundred words have too
 * many.
 */
export const partsOf = (rules: readonly PolicyRule[]): number =>
  rules.reduce((sum, { verbs, apiGroups, resources, resourceNames, nonResourceURLs }) => {
    const of = (list: readonly string[] | null | undefined): number => some(list).length;
    return (
      sum + of(verbs) * (of(apiGroups) * of(resources) * Math.max(1, of(resourceNames)) + of(nonResourceURLs))
    );
  }, 0);

/** Splits a rule into parts with a single verb, group, resource and name each. */
function* atoms(rule: PolicyRule): Generator<PolicyRule> {
  const names = some(rule.resourceNames);
  for (const group of some(rule.apiGroups)) {
    for (const resource of some(rule.resources)) {
      for (const verb of some(rule.verbs)) {
        const plain: PolicyRule = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (names.length) for (const name of names) yield { ...plain, resourceNames: [name] };
        else yield plain;
      }
    }
  }
  for (const url of some(rule.nonResourceURLs))
    for (const verb of some(rule.verbs)) yield { verbs: [verb], nonResourceURLs: [url] };
}

function covers(owner: PolicyRule, atom: PolicyRule): boolean {
  const all = (
    owned: readonly string[] | null | undefined,
    wanted: readonly string[] | null | undefined,
  ): boolean => some(wanted).every((each) => hasOrAll(some(owned), each));
  const names = some(owner.resourceNames);
  const wantedNames = some(atom.resourceNames);
  return (
    all(owner.verbs, atom.verbs) &&
    all(owner.apiGroups, atom.apiGroups) &&
    some(atom.resources).every((resource) => resourceCovers(some(owner.resources), resource)) &&
    some(atom.nonResourceURLs).every((url) =>
      some(owner.nonResourceURLs).some((pattern) => urlCovers(pattern, url)),
    ) &&
    (names.length === 0 || (wantedNames.length > 0 && wantedNames.every((name) => names.includes(name))))
  );
}

function resourceCovers(owned: readonly string[], resource: string): boolean {
  if (hasOrAll(owned, resource)) return true;
  const slash = resource.indexOf("/");
  return slash >= 0 && owned.includes(`*/${resource.slice(slash + 1)}`);
}

/** Joins rules that differ only in their verbs, for display. */
export function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const joined = new Map<string, { readonly rule: PolicyRule; readonly verbs: string[] }>();
  for (const rule of rules) {
    const { verbs, ...rest } = rule;
    const key = JSON.stringify(rest);
    const before = joined.get(key);
    if (!before) joined.set(key, { rule, verbs: [...some(verbs)] });
    else for (const verb of some(verbs)) before.verbs.push(verb);
  }
  return Array.from(joined.values(), ({ rule, verbs }) => ({ ...rule, verbs }));
}

/** Formats a rule: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function describeRule(rule: PolicyRule): string {
  const part = (name: string, list: readonly string[] | null | undefined): string[] =>
    list?.length ? [`${name}:[${list.map((each) => JSON.stringify(each)).join(" ")}]`] : [];
  const parts = [
    ...part("APIGroups", rule.apiGroups),
    ...part("Resources", rule.resources),
    ...part("NonResourceURLs", rule.nonResourceURLs),
    ...part("ResourceNames", rule.resourceNames),
    ...part("Verbs", rule.verbs),
  ];
  return `{${parts.join(", ")}}`;
}
