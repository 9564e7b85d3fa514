// Whether a pod may run on a node as far as labels and taints go.
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint, Toleration } from "#api";

export function matchesNode({ spec }: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  if (!Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const wanted = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return wanted === undefined || (wanted.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, node));
}

function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, { metadata }: Node): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  const fields: Readonly<Record<string, string>> = { "metadata.name": metadata.name ?? "" };
  return matchExpressions.every((each) => holds(each, metadata.labels ?? {})) && matchFields.every((each) => holds(each, fields));
}

function holds({ key, operator, values = [] }: NodeSelectorRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
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
    case "Lt": {
      const [mine, bound] = [Number.parseInt(value ?? "", 10), Number.parseInt(values[0] ?? "", 10)];
      return operator === "Gt" ? mine > bound : mine < bound;
    }
    default:
      return false;
  }
}

const tolerates = ({ key, operator, value, effect }: Toleration, taint: Taint): boolean =>
  (!effect || effect === taint.effect) && (!key ? operator === "Exists" : key === taint.key) && (operator === "Exists" || (value ?? "") === (taint.value ?? ""));

export const isTolerated = (pod: Pod, taint: Taint): boolean => (pod.spec.tolerations ?? []).some((each) => tolerates(each, taint));

/** The first taint that keeps the pod off. */
export const keptOffBy = (pod: Pod, taints: readonly Taint[] | undefined): Taint | undefined =>
  (taints ?? []).find((taint) => (taint.effect === "NoSchedule" || taint.effect === "NoExecute") && !isTolerated(pod, taint));
