// Computes a pod's status from the observed state between its actions, and publishes it.
import type { Pod, PodStatus } from "#api";
import { millisOfTime } from "#base";
import type { ObservedPod } from "../containers/observed.ts";
import { isStatic } from "../pod.ts";
import { computeStatus, publishable } from "../status/compute.ts";
import { memoryKill, memoryKills } from "../status/memory-kills.ts";
import { type PodEntry, type PodWorkersOptions, isOrphaned } from "./entry.ts";
import type { Ending } from "./state.ts";

export interface PodStatuses {
  /** Updates the probe workers and computes the status. */
  update(
    entry: PodEntry,
    pod: Pod,
    observed: ObservedPod,
    how: { readonly over: boolean; readonly ended?: Ending },
  ): PodStatus;
  publish(entry: PodEntry, pod: Pod, status: PodStatus, mayRun: boolean): void;
  /** Milliseconds until the pod's activeDeadlineSeconds expires. */
  deadline(pod: Pod, status: PodStatus): number | undefined;
}

export function podStatuses({
  context,
  writer,
  podMetrics,
  mirrorOf,
  runtimeName,
}: Pick<PodWorkersOptions, "context" | "writer" | "podMetrics" | "mirrorOf" | "runtimeName">): PodStatuses {
  const { clock, probes, dialect, node, events } = context;
  const nodeReference = { kind: "Node", name: node.name, uid: node.name };
  return {
    update: (entry, pod, observed, how) => {
      const old = entry.status ?? mirrorOf(pod)?.status ?? pod.status ?? {};
      if (!how.over)
        probes.update(pod, observed, [
          ...(old.containerStatuses ?? []),
          ...(old.initContainerStatuses ?? []),
        ]);
      entry.holdMilliseconds = holdOf(observed, clock.now());
      const computed = computeStatus(pod, {
        now: clock.now(),
        runtimeName: runtimeName(),
        hostIps: node.hostIps(),
        observed,
        old,
        startErrors: entry.memory.startErrors,
        probes,
        isStatic: isStatic(pod, dialect),
        reportsNetwork: context.settings.reportsNetwork,
        reportsHostIps: context.settings.reportsHostIps,
        ...how,
      });
      const status = context.resize?.shown(pod, observed, old, computed) ?? computed;
      entry.memory.status = status;
      for (const message of memoryKills(pod, status, old))
        events.event(nodeReference, "Warning", memoryKill, message);
      entry.status = status;
      if (entry.status.phase === "Running") podMetrics?.running(pod);
      return entry.status;
    },
    publish: (entry, pod, status, mayRun) => {
      const isOwnStatic = isStatic(pod, dialect);
      const object = isOwnStatic ? mirrorOf(pod) : pod;
      if (!writer || !object || (isOrphaned(entry) && !isOwnStatic)) return;
      if (mayRun && entry.holdMilliseconds > 0) {
        clock.after(entry.holdMilliseconds, () => entry.worker.wake());
        return;
      }
      writer.write(object, publishable(status, writer.published(object), mayRun, clock.now()));
    },
    deadline: (pod, status) => {
      const seconds = pod.spec.activeDeadlineSeconds;
      return seconds === undefined || !status.startTime
        ? undefined
        : millisOfTime(status.startTime) + Number(seconds) * 1000 - clock.now();
    },
  };
}

export const pastDeadline: Ending = {
  reason: "DeadlineExceeded",
  message: "Pod was active on the node longer than the specified deadline",
  final: true,
};

/**
 * A container in a crash loop is not reported as running on each restart: it must first have run for this
 * long.
 */
const restartedMilliseconds = 1000;
function holdOf({ containers }: ObservedPod, now: number): number {
  const young = containers
    .filter(({ state, runtimeLabels }) => state === "running" && runtimeLabels.restartCount > 0)
    .map(({ startedAt }) => now - (startedAt ?? 0))
    // A start in the future is from before the machine's clock was set back.
    .filter((age) => age >= 0);
  return Math.max(0, ...young.map((age) => restartedMilliseconds - age));
}
