// Whether a pod may run on a node as far as taints go.
import { type Pod, type Taint, tolerates } from "#api";

export const isTolerated = (pod: Pod, taint: Taint): boolean =>
  (pod.spec.tolerations ?? []).some((each) => tolerates(each, taint));

/** The first taint that keeps the pod off. */
export const keptOffBy = (pod: Pod, taints: readonly Taint[] | undefined): Taint | undefined =>
  (taints ?? []).find(
    (taint) => (taint.effect === "NoSchedule" || taint.effect === "NoExecute") && !isTolerated(pod, taint),
  );
