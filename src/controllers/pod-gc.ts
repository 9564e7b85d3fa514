// Pod garbage collector: deletes pods of missing nodes, unscheduled pods that are terminating, and the oldest
// finished pods beyond the threshold.
import type { Node, Pod, PodCondition } from "#api";
import { ApiError, timeOfMillis } from "#base";
import { type AnyObject, kinds } from "#client";
import { type Controller, type ControllerContext, ignoreReasons, queueFor } from "#controllerkit";

export interface PodGcFacts {
  readonly nodes: ReadonlySet<string>;
  /** The time at which a missing node was first noticed. */
  readonly missingSince: ReadonlyMap<string, number>;
  readonly now: number;
  /** Nodes that are not ready and tainted out-of-service: their terminating pods are force-deleted. */
  readonly outOfService?: ReadonlySet<string>;
  /** Maximum number of finished pods to keep. */
  readonly maxFinished: number;
}

/** A node may be recreated under its name; its pods are kept this long. */
const quarantineMilliseconds = 40_000;
const defaultThreshold = 12_500;
const everyMilliseconds = 20_000;

const isFinished = ({ status }: Pod): boolean => status.phase === "Succeeded" || status.phase === "Failed";
const isEvicted = ({ status }: Pod): boolean => status.phase === "Failed" && status.reason === "Evicted";

/**
 * Orders evicted pods first, then by age. Evicted pods are replaced by their controllers, so they go first.
 */
function byEvictionThenAge(a: Pod, b: Pod): number {
  if (isEvicted(a) !== isEvicted(b)) return isEvicted(a) ? -1 : 1;
  const order = ({ metadata }: Pod): string => `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
  return order(a) < order(b) ? -1 : 1;
}

/** Returns the pods to delete, with the reason. */
export function decide<P extends Pod>(
  pods: readonly P[],
  { nodes, missingSince, now, outOfService, maxFinished }: PodGcFacts,
): { readonly pod: P; readonly reason: "orphaned" | "unscheduled" | "out of service" | "finished" }[] {
  const orphaned = pods.filter(
    ({ spec }) =>
      spec.nodeName &&
      !nodes.has(spec.nodeName) &&
      now - (missingSince.get(spec.nodeName) ?? now) >= quarantineMilliseconds,
  );
  const unscheduled = pods.filter(({ spec, metadata }) => !spec.nodeName && metadata.deletionTimestamp);
  const stuck = pods.filter(
    ({ spec, metadata }) => metadata.deletionTimestamp && spec.nodeName && outOfService?.has(spec.nodeName),
  );
  const deleting = new Set([...orphaned, ...unscheduled, ...stuck]);
  const finished = pods.filter((pod) => isFinished(pod) && !deleting.has(pod)).toSorted(byEvictionThenAge);
  return [
    ...orphaned.map((pod) => ({ pod, reason: "orphaned" as const })),
    ...unscheduled.map((pod) => ({ pod, reason: "unscheduled" as const })),
    ...stuck.map((pod) => ({ pod, reason: "out of service" as const })),
    ...finished
      .slice(0, Math.max(0, finished.length - maxFinished))
      .map((pod) => ({ pod, reason: "finished" as const })),
  ];
}

export function podGcController(context: ControllerContext, threshold = defaultThreshold): Controller {
  const { client, clock, view, log, dialect, gates } = context;
  const pods = client.of(kinds.pods);
  const missingSince = new Map<string, number>();
  const forced = context.metrics
    .counter({
      name: "pod_gc_collector_force_delete_pods_total",
      help: "Number of terminating pods on out-of-service nodes that were to be force-deleted.",
      stability: "ALPHA",
    })
    .with();
  const forcedFailed = context.metrics
    .counter({
      name: "pod_gc_collector_force_delete_pod_errors_total",
      help: "Number of failures to force-delete a terminating pod on an out-of-service node.",
      stability: "ALPHA",
    })
    .with();
  const queue = queueFor(context, "pod garbage", work, { workers: 1 });
  const seenPods = view.follow(kinds.pods, () => undefined);
  const nodes = view.follow(kinds.nodes, ({ type }) => {
    if (type === "deleted") queue.add("all");
  });
  queue.add("all");
  return { stopped: queue.stopped };

  async function work(): Promise<{ requeueAfterMilliseconds: number }> {
    const present = new Set([...nodes.items()].map(({ metadata }) => metadata.name!));
    const used = new Set([...seenPods.items()].flatMap(({ spec }) => (spec.nodeName ? [spec.nodeName] : [])));
    for (const name of missingSince.keys())
      if (present.has(name) || !used.has(name)) missingSince.delete(name);
    for (const name of used)
      if (!present.has(name) && !missingSince.has(name)) missingSince.set(name, clock.monotonic());
    for (const { pod, reason: why } of decide([...seenPods.items()], {
      nodes: present,
      missingSince,
      now: clock.monotonic(),
      maxFinished: threshold > 0 ? threshold : Infinity,
      ...(gates.enabled("NodeOutOfServiceVolumeDetach") && {
        outOfService: new Set(
          [...nodes.items()].filter(isOutOfService).map(({ metadata }) => metadata.name!),
        ),
      }),
    })) {
      const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
      try {
        // The informer cache may be stale: confirm with the API server that the node is gone.
        if (why === "orphaned" && (await nodeExists(pod.spec.nodeName!))) continue;
        if (why === "out of service") forced.add();
        await failAndDelete(pod, why === "orphaned" ? [orphanedCondition()] : []);
        log.info("pod deleted", { pod: name, why });
      } catch (error) {
        // A pod whose deletion is denied must not keep the others.
        if (why === "out of service") forcedFailed.add();
        log.warn("pod not deleted; it will be retried", { pod: name, why, error: (error as Error).message });
      }
    }
    const due = [...missingSince.values()].map((since) => since + quarantineMilliseconds - clock.monotonic());
    const next = Math.min(everyMilliseconds, ...due.filter((left) => left > 0));
    return { requeueAfterMilliseconds: next };
  }

  function isOutOfService({ spec, status }: Node): boolean {
    const ready = status.conditions?.find(({ type }) => type === "Ready");
    const { outOfService } = dialect.names.taints;
    return ready?.status !== "True" && (spec.taints ?? []).some(({ key }) => key === outOfService);
  }

  async function nodeExists(name: string): Promise<boolean> {
    try {
      await client.of(kinds.nodes).get(name);
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.reason === "NotFound") return false;
      throw error;
    }
  }

  function orphanedCondition(): PodCondition {
    return {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByPodGC",
      message: "PodGC: node no longer exists",
      lastProbeTime: null,
      lastTransitionTime: timeOfMillis(clock.now()),
    };
  }

  async function failAndDelete(pod: Pod & AnyObject, conditions: readonly PodCondition[]): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    if (gates.enabled("PodDisruptionConditions") && !isFinished(pod)) await fail(pod, conditions);
    await ignoreReasons(
      ["NotFound", "Conflict"],
      pods.delete(name!, { namespace: namespace!, uid: uid!, graceSeconds: 0 }),
    );
  }

  /** Marks the pod as failed: no agent will report its end, and its owner must not count it as running. */
  async function fail({ metadata }: Pod & AnyObject, conditions: readonly PodCondition[]): Promise<void> {
    const status = { phase: "Failed", ...(conditions.length > 0 && { conditions }) };
    await ignoreReasons(
      ["NotFound", "Conflict"],
      pods.patch(
        metadata.name!,
        "strategic",
        { metadata: { uid: metadata.uid }, status },
        { namespace: metadata.namespace!, subresource: "status" },
      ),
    );
  }
}
