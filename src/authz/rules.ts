// Policy rules: what one allows, and whether a set of them covers another.

import type { PolicyRule } from "#api";
import type { Attributes } from "./authorizer.ts";

const none: readonly string[] = [];
const some = (list: readonly string[] | null | undefined): readonly string[] => list ?? none;

/** Whether a rule allows an action. */
export function ruleAllows(rule: PolicyRule, { verb, resource, path = "" }: Attributes): boolean {
  if (!hasOrAll(some(rule.verbs), verb)) return false;
  if (!resource) return some(rule.nonResourceURLs).some((pattern) => urlCovers(pattern, path));
  return hasOrAll(some(rule.apiGroups), resource.group) && resourceMatches(some(rule.resources), resource.resource, resource.subresource) && nameMatches(rule, resource.name);
}

function nameMatches(rule: PolicyRule, name: string): boolean {
  const names = some(rule.resourceNames);
  return names.length === 0 || names.includes(name);
}

function resourceMatches(resources: readonly string[], resource: string, subresource: string): boolean {
  const whole = subresource ? `${resource}/${subresource}` : resource;
  return resources.some((each) => each === "*" || each === whole || (subresource !== "" && each === `*/${subresource}`));
}

const hasOrAll = (list: readonly string[], wanted: string): boolean => list.includes("*") || list.includes(wanted);
const urlCovers = (pattern: string, path: string): boolean => pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.replace(/\*+$/, "")));

/** The parts of `rules` that `owned` does not cover, each with one verb, one resource and at most one name. Empty when all is covered. */
export const uncovered = (rules: readonly PolicyRule[], owned: readonly PolicyRule[]): PolicyRule[] =>
  rules.flatMap(atoms).filter((atom) => !owned.some((rule) => covers(rule, atom)));

/** A rule broken down until nothing is left to combine. */
function atoms(rule: PolicyRule): PolicyRule[] {
  const names = some(rule.resourceNames);
  const found: PolicyRule[] = [];
  for (const group of some(rule.apiGroups)) {
    for (const resource of some(rule.resources)) {
      for (const verb of some(rule.verbs)) {
        const plain: PolicyRule = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (names.length) found.push(...names.map((name) => ({ ...plain, resourceNames: [name] })));
        else found.push(plain);
      }
    }
  }
  for (const url of some(rule.nonResourceURLs)) for (const verb of some(rule.verbs)) found.push({ verbs: [verb], nonResourceURLs: [url] });
  return found;
}

function covers(owner: PolicyRule, atom: PolicyRule): boolean {
  const all = (owned: readonly string[] | null | undefined, wanted: readonly string[] | null | undefined): boolean => some(wanted).every((each) => hasOrAll(some(owned), each));
  const names = some(owner.resourceNames);
  const wantedNames = some(atom.resourceNames);
  return (
    all(owner.verbs, atom.verbs) &&
    all(owner.apiGroups, atom.apiGroups) &&
    some(atom.resources).every((resource) => resourceCovers(some(owner.resources), resource)) &&
    some(atom.nonResourceURLs).every((url) => some(owner.nonResourceURLs).some((pattern) => urlCovers(pattern, url))) &&
    (names.length === 0 || (wantedNames.length > 0 && wantedNames.every((name) => names.includes(name))))
  );
}

function resourceCovers(owned: readonly string[], resource: string): boolean {
  if (hasOrAll(owned, resource)) return true;
  const slash = resource.indexOf("/");
  return slash >= 0 && owned.includes(`*/${resource.slice(slash + 1)}`);
}

/** Joins rules that differ only in their verbs, for people to read. */
export function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const joined = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const { verbs, ...rest } = rule;
    const key = JSON.stringify(rest);
    const before = joined.get(key);
    joined.set(key, before ? { ...before, verbs: [...some(before.verbs), ...some(verbs)] } : rule);
  }
  return [...joined.values()];
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function describeRule(rule: PolicyRule): string {
  const part = (name: string, list: readonly string[] | null | undefined): string[] => (list?.length ? [`${name}:[${list.map((each) => JSON.stringify(each)).join(" ")}]`] : []);
  const parts = [
    ...part("APIGroups", rule.apiGroups),
    ...part("Resources", rule.resources),
    ...part("NonResourceURLs", rule.nonResourceURLs),
    ...part("ResourceNames", rule.resourceNames),
    ...part("Verbs", rule.verbs),
  ];
  return `{${parts.join(", ")}}`;
}
