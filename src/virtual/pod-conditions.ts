// Conditions in a pod's status that the server sets.
import type { Pod } from "#api";

export interface ConditionNow {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

/** Sets a condition; the transition time changes only with its status. */
export function setCondition(pod: Pod, condition: ConditionNow, now: string): void {
  const others = pod.status.conditions ?? [];
  const old = others.find(({ type }) => type === condition.type);
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : now;
  const next = { lastProbeTime: null, ...condition, lastTransitionTime };
  pod.status.conditions = old ? others.map((each) => (each === old ? next : each)) : [...others, next];
}
