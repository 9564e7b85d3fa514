// Whether a pod may run on a node as far as taints go.
import type { Pod, Taint, Toleration } from "#api";

const tolerates = ({ key, operator, value, effect }: Toleration, taint: Taint): boolean =>
  (!effect || effect === taint.effect) && (!key ? operator === "Exists" : key === taint.key) && (operator === "Exists" || (value ?? "") === (taint.value ?? ""));

export const isTolerated = (pod: Pod, taint: Taint): boolean => (pod.spec.tolerations ?? []).some((each) => tolerates(each, taint));

/** The first taint that keeps the pod off. */
export const keptOffBy = (pod: Pod, taints: readonly Taint[] | undefined): Taint | undefined =>
  (taints ?? []).find((taint) => (taint.effect === "NoSchedule" || taint.effect === "NoExecute") && !isTolerated(pod, taint));
