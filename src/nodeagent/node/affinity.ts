// Whether a node is one that a pod wants: its node selector and the required terms of its node affinity.
import type { NodeSelectorRequirement, NodeSelectorTerm, Pod } from "#api";

type Labels = Readonly<Record<string, string>>;

export function wantsNode(pod: Pod, node: { readonly name: string; readonly labels: Labels }): boolean {
  const { nodeSelector, affinity } = pod.spec;
  if (Object.entries(nodeSelector ?? {}).some(([key, value]) => node.labels[key] !== value)) return false;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return !terms || terms.some((term) => matchesTerm(term, node));
}

/** A term without requirements matches nothing. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: { readonly name: string; readonly labels: Labels }): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return matchExpressions.every((one) => matches(one, node.labels)) && matchFields.every((one) => matches(one, { "metadata.name": node.name }));
}

function matches({ key, operator, values = [] }: NodeSelectorRequirement, labels: Labels): boolean {
  const value = labels[key];
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
      return isWhole(value) && Number(value) > Number(values[0]);
    case "Lt":
      return isWhole(value) && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

const isWhole = (value: string | undefined): boolean => value !== undefined && /^[-+]?\d+$/.test(value);
