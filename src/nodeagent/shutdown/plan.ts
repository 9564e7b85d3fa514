// The order and grace periods of pods at a node shutdown: groups by priority, the lowest first.
import type { Pod } from "#api";
import type { PriorityGrace } from "../options/types.ts";

export interface ShutdownSettings {
  readonly graceSeconds: number;
  /** The last part of graceSeconds, for critical pods. */
  readonly criticalSeconds: number;
  /** Overrides the other two fields. */
  readonly byPriority: readonly PriorityGrace[];
}

export interface ShutdownGroup {
  readonly priority: number;
  readonly seconds: number;
  readonly pods: readonly { readonly pod: Pod; readonly graceSeconds: number }[];
}

const systemPriority = 2_000_000_000;

/** Returns the steps by ascending priority; empty if shutdowns are not handled. */
export function shutdownSteps({
  graceSeconds,
  criticalSeconds,
  byPriority,
}: ShutdownSettings): PriorityGrace[] {
  const steps =
    byPriority.length > 0
      ? [...byPriority]
      : graceSeconds > 0
        ? [
            { priority: 0, shutdownGracePeriodSeconds: Math.trunc(graceSeconds - criticalSeconds) },
            { priority: systemPriority, shutdownGracePeriodSeconds: Math.trunc(criticalSeconds) },
          ]
        : [];
  return steps.toSorted((a, b) => a.priority - b.priority);
}

/** Seconds for which the shutdown is delayed. */
export const inhibitSeconds = (steps: readonly PriorityGrace[]): number =>
  steps.reduce((sum, step) => sum + step.shutdownGracePeriodSeconds, 0);

export function shutdownPlan(steps: readonly PriorityGrace[], pods: readonly Pod[]): ShutdownGroup[] {
  const groups = steps.map(({ priority, shutdownGracePeriodSeconds }) => ({
    priority,
    seconds: shutdownGracePeriodSeconds,
    pods: [] as { pod: Pod; graceSeconds: number }[],
  }));
  for (const pod of pods) {
    const group = groups[stepOf(steps, Number(pod.spec.priority ?? 0))];
    const own = pod.spec.terminationGracePeriodSeconds;
    group?.pods.push({
      pod,
      graceSeconds: own === undefined || own === null ? group.seconds : Math.min(Number(own), group.seconds),
    });
  }
  return groups;
}

/** Returns the step of this priority, else the next lower one, else the lowest. */
function stepOf(steps: readonly PriorityGrace[], priority: number): number {
  const at = steps.findIndex((step) => step.priority >= priority);
  if (at < 0) return steps.length - 1;
  return steps[at]!.priority === priority ? at : Math.max(0, at - 1);
}
