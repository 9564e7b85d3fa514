// Reports whether a node matches a pod's node selector and the required terms of its node affinity.
import type { TypeOf } from "#schema";
import type { NodeSelectorRequirement, NodeSelectorTerm } from "./affinity.ts";
import type { PodSpec } from "./pod.ts";

type Labels = Readonly<Record<string, string>>;

export interface NamedNode {
  readonly name: string;
  readonly labels: Labels;
}

export function podMatchesNode(
  { nodeSelector, affinity }: Pick<TypeOf<typeof PodSpec>, "nodeSelector" | "affinity">,
  node: NamedNode,
): boolean {
  if (Object.entries(nodeSelector ?? {}).some(([key, value]) => valueOf(node.labels, key) !== value))
    return false;
  const wanted = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !wanted || (wanted.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, node));
}

/** A term without requirements matches nothing. */
function matchesTerm(
  { matchExpressions = [], matchFields = [] }: TypeOf<typeof NodeSelectorTerm>,
  node: NamedNode,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((one) => matches(one, node.labels)) &&
    matchFields.every((one) => matches(one, { "metadata.name": node.name }))
  );
}

function matches(
  { key, operator, values = [] }: TypeOf<typeof NodeSelectorRequirement>,
  labels: Labels,
): boolean {
  const value = valueOf(labels, key);
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return isWhole(value) && isWhole(values[0]) && Number(value) > Number(values[0]);
    case "Lt":
      return isWhole(value) && isWhole(values[0]) && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

const valueOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;
const isWhole = (value: string | undefined): boolean => value !== undefined && /^[-+]?\d+$/.test(value);
