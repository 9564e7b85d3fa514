// Periodic background work of the agent: pod CIDR updates, removal of orphaned directories and cgroups, dead
// container collection and log rotation.
import { parseQuantity, quantityValue } from "#base";
import type { AgentLifecycle } from "./agent-lifecycle.ts";
import type { AgentDeps } from "./agent-parts.ts";
import { type DeadLimits, collectDeadContainers } from "./containers/dead-containers.ts";
import type { PodCache } from "./containers/pod-cache.ts";
import { type HousekeepingOptions, housekeeping } from "./housekeeping.ts";
import { podRange } from "./pod-range.ts";
import { isFinished } from "./pod.ts";
import type { PodWorkers } from "./pod-workers.ts";
import { logRotation } from "./server/log-rotation.ts";

export interface HousekeepingParts extends Pick<
  HousekeepingOptions,
  "files" | "volumes" | "cgroups" | "sharesCgroups" | "ready" | "forget" | "onCleared"
> {
  readonly cache: PodCache;
  readonly workers: PodWorkers;
  readonly dead: DeadLimits;
  readonly podRange: () => string;
}

export function runHousekeeping(
  { settings, clock, log, runtime, events, nodeName }: AgentDeps,
  { cache, workers, dead, podRange: range, ...kept }: HousekeepingParts,
  lifecycle: AgentLifecycle,
): void {
  const { signal } = lifecycle;
  const { registry } = workers;
  const pods = () => [...cache.pods()];
  const isOver = (uid: string): boolean => {
    const pod = registry.byUid(uid);
    return pod !== undefined && isFinished(pod);
  };
  const isKnown = (uid: string): boolean => workers.has(uid) || cache.has(uid);
  lifecycle.run(
    podRange({ runtime, clock, log, range }, signal),
    housekeeping({ ...kept, clock, log, isKnown }, signal),
    collectDeadContainers(
      {
        clock,
        log,
        runtime,
        files: kept.files,
        limits: dead,
        pods,
        isOver,
        onFailure: (message) =>
          events.event(
            { kind: "Node", name: nodeName, uid: nodeName },
            "Warning",
            "ContainerGCFailed",
            message,
          ),
      },
      signal,
    ),
    logRotation(
      {
        clock,
        log,
        runtime,
        registry,
        largestBytes: quantityValue(parseQuantity(settings.containerLogMaxSize)),
        mostFiles: settings.containerLogMaxFiles,
      },
      signal,
    ),
  );
}
