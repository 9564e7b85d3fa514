// The order in which pods are evicted: those above their request first, then by priority, then by the excess.
// For process counts, which have no requests: by priority, then by count.
import type { Pod } from "#api";
import type { Signal } from "./thresholds.ts";
import { type MeasuredPod, diskUseOf, requestOf, resourceOf } from "./usage.ts";

interface Ranked {
  readonly measured: MeasuredPod;
  readonly isOver: boolean;
  readonly priority: number;
  readonly excess: number;
}

/** Returns the pods in eviction order; those without usage data come first. */
export function rank(
  signal: Signal,
  pods: readonly MeasuredPod[],
  dedicatedImageFs: boolean,
): readonly MeasuredPod[] {
  const ranked = pods.map((measured): Ranked => rankOf(signal, measured, dedicatedImageFs));
  return ranked
    .toSorted((a, b) => {
      const unknown = Number(!b.measured.usage) - Number(!a.measured.usage);
      // A pod without usage data comes first, except for process counts, where the priority comes before.
      if (unknown !== 0 && resourceOf[signal] !== "pids") return unknown;
      return Number(b.isOver) - Number(a.isOver) || a.priority - b.priority || unknown || b.excess - a.excess;
    })
    .map(({ measured }) => measured);
}

function rankOf(signal: Signal, measured: MeasuredPod, dedicatedImageFs: boolean): Ranked {
  const { pod, usage } = measured;
  const priority = priorityOf(pod);
  if (!usage) return { measured, isOver: false, priority, excess: 0 };
  const resource = resourceOf[signal];
  if (resource === "pids") return { measured, isOver: false, priority, excess: usage.processes };
  if (resource === "memory") {
    const excess = usage.workingSetBytes - requestOf(pod, "memory");
    return { measured, isOver: excess > 0, priority, excess };
  }
  const used = diskUseOf(usage, signal, dedicatedImageFs);
  // Like in the kubelet, inodes are compared with the storage request, since there are no requests for
  // inodes.
  return {
    measured,
    isOver: used > (resource === "inodes" ? 0 : requestOf(pod, resource)),
    priority,
    excess: used - requestOf(pod, "ephemeral-storage"),
  };
}

export const priorityOf = (pod: Pod): number => Number(pod.spec.priority ?? 0);
