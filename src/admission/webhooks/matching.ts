// Matching of requests by webhooks and policies: rules, scope, namespace and object selectors.

import type { RuleWithOperations } from "#api";
import { type LabelSelectorLike, type Selector, fromLabelSelector, notFound } from "#base";
import type { AdmissionAttributes, Equivalent, ResourceName } from "../attributes.ts";

type Labels = Readonly<Record<string, string>>;

/** Returns the labels of a namespace; undefined if it does not exist. */
export type NamespaceLabels = (name: string) => Promise<Labels | undefined>;

const isNamespaces = ({ group, resource }: ResourceName): boolean =>
  group === "" && resource === "namespaces";

/** Returns the namespace of a request; a namespace object belongs to itself. */
export const namespaceOf = ({ namespace, name, resource, object }: AdmissionAttributes): string =>
  isNamespaces(resource) ? name || nameIn(object) : namespace;

const nameIn = (object: Record<string, unknown> | undefined): string =>
  (object?.["metadata"] as { name?: string } | undefined)?.name ?? "";

const anyOr = (items: readonly string[] | undefined, wanted: string): boolean =>
  items?.some((item) => item === "*" || item === wanted) ?? false;

/** Reports whether a rule matches the request, assuming it was made for the given resource. */
export function ruleMatches(
  rule: RuleWithOperations,
  attributes: AdmissionAttributes,
  resource: ResourceName,
): boolean {
  return (
    scopeMatches(rule.scope ?? "*", attributes, resource) &&
    anyOr(rule.operations, attributes.operation) &&
    anyOr(rule.apiGroups, resource.group) &&
    anyOr(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some((each) => resourceMatches(each, resource.resource, attributes.subresource))
  );
}

function scopeMatches(scope: string, attributes: AdmissionAttributes, resource: ResourceName): boolean {
  if (scope === "*") return true;
  const inNamespace = !isNamespaces(resource) && attributes.namespace !== "";
  return scope === "Namespaced" ? inNamespace : scope === "Cluster" && !inNamespace;
}

function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf("/");
  const name = slash < 0 ? pattern : pattern.slice(0, slash);
  const sub = slash < 0 ? "" : pattern.slice(slash + 1);
  return (name === "*" || name === resource) && (sub === "*" || sub === subresource);
}

/** Returns the resource and version by which the first matching rule matches the request. */
export function matchedResource(
  rules: readonly RuleWithOperations[],
  equivalent: boolean,
  attributes: AdmissionAttributes,
): Equivalent | undefined {
  const { resource, requestKind } = attributes;
  if (rules.some((rule) => ruleMatches(rule, attributes, resource))) return { resource, kind: requestKind };
  if (!equivalent) return undefined;
  const others = attributes.equivalents.filter(({ resource: other }) => !sameResource(other, resource));
  for (const rule of rules) {
    const found = others.find((other) => ruleMatches(rule, attributes, other.resource));
    if (found) return found;
  }
  return undefined;
}

const sameResource = (left: ResourceName, right: ResourceName): boolean =>
  left.group === right.group && left.version === right.version && left.resource === right.resource;

const selectors = new WeakMap<object, Selector>();

/** Returns the parsed selector, which is cached; undefined if it selects everything. */
function selectorOf(selector: LabelSelectorLike | undefined): Selector | undefined {
  if (!selector || (!selector.matchExpressions?.length && !Object.keys(selector.matchLabels ?? {}).length))
    return undefined;
  return selectors.getOrInsertComputed(selector, () => fromLabelSelector(selector));
}

const selects = (selector: Selector, labels: Labels): boolean => selector.matches({ labels, fields: {} });

/**
 * Reports whether the namespace of the request matches the selector. Cluster-scoped requests always match.
 */
export async function namespaceMatches(
  wanted: LabelSelectorLike | undefined,
  attributes: AdmissionAttributes,
  labelsOf: NamespaceLabels,
): Promise<boolean> {
  const selector = selectorOf(wanted);
  if (!selector) return true;
  const { resource, subresource, operation, object } = attributes;
  const namespace = namespaceOf(attributes);
  if (namespace === "" && resource.resource !== "namespaces") return true;
  const itself =
    isNamespaces(resource) && subresource === "" && (operation === "CREATE" || operation === "UPDATE");
  if (itself) return selects(selector, objectLabels(object) ?? {});
  const labels = await labelsOf(namespace);
  if (!labels) throw notFound({ group: "", resource: "namespaces" }, namespace);
  return selects(selector, labels);
}

function objectLabels(object: Record<string, unknown> | undefined): Labels | undefined {
  if (!object) return undefined;
  const metadata = object["metadata"] as { labels?: Labels } | undefined;
  return metadata ? (metadata.labels ?? {}) : undefined;
}

/** Reports whether the new or the old object matches the selector. */
export function objectMatches(
  wanted: LabelSelectorLike | undefined,
  attributes: AdmissionAttributes,
): boolean {
  const selector = selectorOf(wanted);
  if (!selector) return true;
  return [attributes.object, attributes.oldObject].some((object) => {
    const labels = objectLabels(object);
    return labels !== undefined && selects(selector, labels);
  });
}
