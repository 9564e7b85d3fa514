// Node lifecycle: marks nodes without heartbeats as Unknown, and maintains the taints that follow from node
// conditions.
import { isDeepStrictEqual } from "node:util";
import type { Node, Taint } from "#api";
import { timeOfMillis } from "#base";
import { type AnyObject, kinds } from "#client";
import type { Dialect } from "#dialect";
import {
  type Controller,
  type ControllerContext,
  ignoreReasons,
  isConflict,
  isNotFound,
  patchObject,
  queueFor,
  recorderFor,
} from "#controllerkit";
import { type NodeEvictionSettings, NodeEvictions } from "./node-evictions.ts";
import { nodeLifecycleMetrics } from "./node-lifecycle-metrics.ts";
import { conditionOf } from "./pods.ts";
import { defaultSettings } from "./settings.ts";

type Condition = NonNullable<Node["status"]["conditions"]>[number];

type SeenNode = Node & AnyObject;

export interface NodeMonitorSettings extends NodeEvictionSettings {
  readonly nodeMonitorPeriodMilliseconds: number;
  /** A node without heartbeats for this long becomes Unknown. */
  readonly nodeMonitorGraceMilliseconds: number;
  /** The same for a node that has never posted a status. */
  readonly nodeStartupGraceMilliseconds: number;
}

const minDelay = 50;
const heartbeatConditions = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/** Returns the conditions of a node that stopped posting its status. */
export function unknownConditions(
  { metadata, status }: Pick<Node, "metadata" | "status">,
  dialect: Dialect,
  now: string,
): Condition[] {
  const before = status.conditions ?? [];
  const { agent } = dialect.cli;
  const known = before.map((old): Condition => {
    if (!heartbeatConditions.includes(old.type) || old.status === "Unknown") return old;
    return {
      ...old,
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: `${title(agent)} stopped posting node status.`,
      lastTransitionTime: now,
    };
  });
  const missing = heartbeatConditions
    .filter((type) => !before.some((each) => each.type === type))
    .map((type): Condition => ({
      type,
      status: "Unknown",
      reason: "NodeStatusNeverUpdated",
      message: `${title(agent)} never posted node status.`,
      lastHeartbeatTime: metadata.creationTimestamp,
      lastTransitionTime: now,
    }));
  return [...known, ...missing];
}

const title = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/**
 * Returns a node's taints after adding those its conditions require and removing outdated ones. NoExecute
 * taints are added only if `expels` is set; taints of other components are kept.
 */
export function taintsFor(
  { spec, status }: Pick<Node, "spec" | "status">,
  { names }: Dialect,
  now: string,
  evicts = true,
): Taint[] {
  const {
    notReady,
    unreachable,
    unschedulable,
    memoryPressure,
    diskPressure,
    pidPressure,
    networkUnavailable,
  } = names.taints;
  const is = (type: string): string | undefined =>
    status.conditions?.find((each) => each.type === type)?.status;
  const ready = is("Ready");
  const wanted: Taint[] = [];
  const add = (key: string, effect: string): void => void wanted.push({ key, effect });
  if (ready === "False") add(notReady, "NoSchedule");
  if (ready === "Unknown") add(unreachable, "NoSchedule");
  // prettier-ignore
  for (const [type, key] of [["MemoryPressure", memoryPressure], ["DiskPressure", diskPressure], ["PIDPressure", pidPressure], ["NetworkUnavailable", networkUnavailable]] as const) if (is(type) === "True") add(key, "NoSchedule");
  if (spec.unschedulable) add(unschedulable, "NoSchedule");
  if (evicts && ready === "False") add(notReady, "NoExecute");
  if (evicts && ready === "Unknown") add(unreachable, "NoExecute");
  const ours = new Set<string>([
    notReady,
    unreachable,
    unschedulable,
    memoryPressure,
    diskPressure,
    pidPressure,
    networkUnavailable,
  ]);
  const before = spec.taints ?? [];
  const same = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;
  // The taint that nodes are registered with has no timeAdded; it is replaced by one that has.
  const isTimed = (taint: Taint): boolean => taint.key !== notReady || Boolean(taint.timeAdded);
  const kept = before.filter(
    (taint) => !ours.has(taint.key) || (isTimed(taint) && wanted.some((each) => same(each, taint))),
  );
  return [
    ...kept,
    ...wanted
      .filter((taint) => !kept.some((each) => same(each, taint)))
      .map((taint) => ({ ...taint, timeAdded: now })),
  ];
}

/** Returns the beta OS and architecture labels whose values differ from the stable labels. */
export function betaLabelsFor(
  labels: Readonly<Record<string, string>>,
  { names: { labels: known } }: Dialect,
): Record<string, string> {
  const pairs = [
    [known.os, known.betaOs],
    [known.arch, known.betaArch],
  ] as const;
  return Object.fromEntries(
    pairs.flatMap(([now, before]) =>
      labels[now] === undefined || labels[before] === labels[now] ? [] : [[before, labels[now]]],
    ),
  );
}

/** The last heartbeat of a node and the local time it was observed: clocks may be skewed. */
interface Heartbeat {
  readonly lease: string;
  readonly heartbeat: string;
  readonly at: number;
}

export function nodeLifecycleController(
  context: ControllerContext,
  settings: NodeMonitorSettings = defaultSettings,
): Controller {
  const { client, clock, view, dialect, log } = context;
  const events = recorderFor(context, "node-controller");
  const {
    nodeMonitorPeriodMilliseconds: everyMilliseconds,
    nodeMonitorGraceMilliseconds: graceMilliseconds,
    nodeStartupGraceMilliseconds: startupGraceMilliseconds,
  } = settings;
  /** Nodes for which RegisteredNode was recorded. */
  const registered = new Set<string>();
  const heartbeats = new Map<string, Heartbeat>();
  const evictions = new NodeEvictions(clock, settings, dialect);
  const metrics = nodeLifecycleMetrics(context.metrics, () => evictions.zones());
  let lastMonitored = clock.monotonic();
  let graceResetAt = 0;
  const queue = queueFor(context, "node lifecycle", async (key) => {
    if (key === monitorKey) return await monitorNodes();
    if (key !== allTaintsKey) return await reconcileNode(key);
    for (const { metadata } of nodes.items()) queue.add(metadata.name!);
  });
  const nodes = view.follow(kinds.nodes, ({ type, object }) => {
    const name = object.metadata.name!;
    if (type === "deleted") {
      heartbeats.delete(name);
      const text = `Node ${name} event: Removing Node ${name} from Controller`;
      if (registered.delete(name)) events.event(object, "Normal", "RemovingNode", text);
      countNodes(() => evictions.forget(name));
      return;
    }
    recordHeartbeat(name, "", object);
    queue.add(name);
    countNodes(() => evictions.observe(object));
    if (registered.has(name)) return;
    registered.add(name);
    const text = `Node ${name} event: Registered Node ${name} in Controller`;
    events.event(object, "Normal", "RegisteredNode", text);
  });
  const pods = view.follow(kinds.pods);
  const onNode = pods.index("node", ({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
  view.follow(
    kinds.leases,
    ({ type, object: { metadata, spec } }) => {
      if (type !== "deleted")
        recordHeartbeat(metadata.name!, spec.renewTime ?? "", nodes.get(undefined, metadata.name!));
    },
    { namespace: dialect.data.nodeLeaseNamespace },
  );
  queue.add(monitorKey);
  return { stopped: queue.stopped };

  /** Requeues every node if eviction rates changed. */
  function countNodes(count: () => boolean): void {
    const wasStopped = evictions.stopped;
    if (!count()) return;
    if (evictions.stopped !== wasStopped) {
      log.info(
        evictions.stopped
          ? "no node is ready: evictions are suspended"
          : "a node is ready: evictions are resumed",
      );
      // Nodes that were silent together with all others may have been healthy: restart their grace period.
      if (wasStopped) graceResetAt = clock.monotonic();
    }
    queue.add(allTaintsKey);
  }

  /** Records a renewed lease or a new status heartbeat. */
  function recordHeartbeat(name: string, renewed: string, node: SeenNode | undefined): void {
    const before = heartbeats.get(name);
    const lease = renewed || before?.lease || "";
    const heartbeat = readyOf(node)?.lastHeartbeatTime ?? "";
    if (!before || before.lease !== lease || before.heartbeat !== heartbeat)
      heartbeats.set(name, { lease, heartbeat, at: clock.monotonic() });
  }

  function readyOf(node: SeenNode | undefined): Condition | undefined {
    return node && conditionOf(node.status.conditions, "Ready");
  }

  /**
   * Marks overdue nodes and requeues for when the next one may be overdue, at the latest after the monitor
   * period.
   */
  async function monitorNodes(): Promise<{ requeueAfterMilliseconds: number }> {
    const now = clock.monotonic();
    // After a pause of this process or of the API server, restart every node's grace period.
    if (now - lastMonitored > everyMilliseconds * 3) graceResetAt = now;
    lastMonitored = now;
    let next = now + everyMilliseconds;
    for (const node of nodes.items()) {
      const since = Math.max(
        heartbeats.get(node.metadata.name!)?.at ?? now,
        graceResetAt,
        view.lastFailure(),
      );
      const due = since + (readyOf(node) ? graceMilliseconds : startupGraceMilliseconds);
      const startedAt = clock.now();
      if (due > now) next = Math.min(next, due);
      else
        // A node that cannot be updated must not keep the others from being monitored.
        await markUnknown(node).catch((error: Error) =>
          log.warn("node not marked as unknown; it will be retried", {
            node: node.metadata.name,
            error: error.message,
          }),
        );
      metrics.nodeMonitored((clock.now() - startedAt) / 1000);
    }
    metrics.allMonitored((clock.monotonic() - now) / 1000);
    return { requeueAfterMilliseconds: Math.max(minDelay, next - now) };
  }

  async function markUnknown(node: SeenNode): Promise<void> {
    const conditions = unknownConditions(node, dialect, timeOfMillis(clock.now()));
    if (isDeepStrictEqual(conditions, node.status.conditions)) return await markPods(node);
    try {
      await patchObject(
        client.of(kinds.nodes),
        node,
        { status: { conditions } },
        { subresource: "status", ifUnchanged: true },
      );
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      // The node may have posted its status meanwhile: the next round decides, also about its pods.
      return;
    }
    const { name } = node.metadata;
    if (conditionOf(node.status.conditions, "Ready")?.status === "True")
      events.event(node, "Normal", "NodeNotReady", `Node ${name} status is now: NodeNotReady`);
    log.warn("node stopped posting its status", {
      node: node.metadata.name,
      graceSeconds: graceMilliseconds / 1000,
    });
    await markPods(node);
  }

  /** Marks the pods of an unresponsive node as not ready, since their state is unknown. */
  async function markPods({ metadata: { name } }: SeenNode): Promise<void> {
    for (const pod of onNode(name!)) {
      const ready = conditionOf(pod.status.conditions, "Ready");
      if (ready?.status !== "True") continue;
      const now = timeOfMillis(clock.now());
      const condition = { ...ready, status: "False", lastTransitionTime: now };
      try {
        await ignoreReasons(
          ["NotFound", "Conflict"],
          patchObject(
            client.of(kinds.pods),
            pod,
            { status: { conditions: [condition] } },
            { subresource: "status", type: "strategic" },
          ),
        );
      } catch (error) {
        const { namespace, name: podName } = pod.metadata;
        log.warn("pod not marked as not ready; it will be retried", {
          pod: `${namespace}/${podName}`,
          error: (error as Error).message,
        });
        continue;
      }
      events.event(pod, "Warning", "NodeNotReady", "Node is not ready");
    }
  }

  /** Reconciles the taints and labels of a node that derive from its conditions and other labels. */
  async function reconcileNode(name: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const node = nodes.get(undefined, name);
    if (!node) return;
    const delay = evictionDelay(node);
    const taints = taintsFor(node, dialect, timeOfMillis(clock.now()), delay === 0);
    if (!isDeepStrictEqual(taints, node.spec.taints ?? [])) {
      await setTaints(node, taints);
      if (isEvicting(taints) && !isEvicting(node.spec.taints)) metrics.evicted(evictions.zoneOf(node));
    }
    const labels = betaLabelsFor(node.metadata.labels ?? {}, dialect);
    if (Object.keys(labels).length > 0)
      await ignoreReasons(
        ["NotFound"],
        client.of(kinds.nodes).patch(name, "strategic", { metadata: { labels } }),
      );
    // While evictions are stopped, a change of rates requeues the node.
    if (delay > 0 && delay < Infinity) return { requeueAfterMilliseconds: delay };
  }

  /**
   * Returns the milliseconds until pods of the node may be evicted; zero if they already are being evicted.
   */
  function evictionDelay(node: SeenNode): number {
    const ready = readyOf(node)?.status;
    if (ready !== "False" && ready !== "Unknown") return 0;
    if (evictions.stopped) return Infinity;
    return isEvicting(node.spec.taints) ? 0 : evictions.turn(node);
  }

  /** Reports whether the taints evict pods because of the node's health. */
  function isEvicting(taints: readonly Taint[] | undefined): boolean {
    const { notReady, unreachable } = dialect.names.taints;
    return (taints ?? []).some(
      ({ key, effect }) => effect === "NoExecute" && (key === notReady || key === unreachable),
    );
  }

  async function setTaints({ metadata: { name, ...metadata } }: SeenNode, taints: Taint[]): Promise<void> {
    const { resourceVersion, uid } = metadata;
    await ignoreReasons(
      ["NotFound"],
      client.of(kinds.nodes).patch(name!, "merge", {
        metadata: { resourceVersion, uid },
        spec: { taints: taints.length > 0 ? taints : null },
      }),
    );
  }
}

/** Queue keys that are invalid as node names. */
const monitorKey = "*";
const allTaintsKey = "* taints";
