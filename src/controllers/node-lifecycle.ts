// Watches over nodes: one that is not heard of becomes Unknown, and taints tell the scheduler and the pods
// what its conditions say.
import { isDeepStrictEqual } from "node:util";
import type { Node, Taint } from "#api";
import { timeOfMillis } from "#base";
import { type AnyObject, kinds } from "#client";
import type { Dialect } from "#dialect";
import {
  type Controller,
  type ControllerContext,
  ignoreReasons,
  patchObject,
  queueFor,
  recorderFor,
} from "#controllerkit";
import { type NodeEvictionSettings, NodeEvictions } from "./node-evictions.ts";
import { conditionOf } from "./pods.ts";
import { defaultSettings } from "./settings.ts";

type Condition = NonNullable<Node["status"]["conditions"]>[number];

type SeenNode = Node & AnyObject;

export interface NodeMonitorSettings extends NodeEvictionSettings {
  readonly nodeMonitorPeriodMilliseconds: number;
  /** A node that was not heard of for so long is Unknown. */
  readonly nodeMonitorGraceMilliseconds: number;
  /** The same for a node that has never been heard of. */
  readonly nodeStartupGraceMilliseconds: number;
}

const shortestPause = 50;
const reported = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/** The conditions of a node that has gone silent. */
export function silentConditions(
  { metadata, status }: Pick<Node, "metadata" | "status">,
  dialect: Dialect,
  now: string,
): Condition[] {
  const before = status.conditions ?? [];
  const { agent } = dialect.cli;
  const known = before.map((old): Condition => {
    if (!reported.includes(old.type) || old.status === "Unknown") return old;
    return {
      ...old,
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: `${title(agent)} stopped posting node status.`,
      lastTransitionTime: now,
    };
  });
  const missing = reported
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
 * The taints that the conditions ask for, those that expel pods only where `expels` says so; those of others
 * stay.
 */
export function taintsFor(
  { spec, status }: Pick<Node, "spec" | "status">,
  { names }: Dialect,
  now: string,
  expels = true,
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
  if (expels && ready === "False") add(notReady, "NoExecute");
  if (expels && ready === "Unknown") add(unreachable, "NoExecute");
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
  // The taint that new nodes are born with has no time: it gets one when their conditions ask for it.
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

/** Labels under old names that do not yet have the values of the new ones. */
export function oldLabelsFor(
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

/** What was last heard of a node, and when by our own clock: theirs may be wrong. */
interface Heard {
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
  /** Nodes that were announced. */
  const registered = new Set<string>();
  const heard = new Map<string, Heard>();
  const evictions = new NodeEvictions(clock, settings, dialect);
  let lastLook = clock.now();
  let excuse = 0;
  const queue = queueFor(context, "node lifecycle", async (key) => {
    if (key === everything) return await lookAtAll();
    if (key !== everyTaint) return await mend(key);
    for (const { metadata } of nodes.items()) queue.add(metadata.name!);
  });
  const nodes = view.follow(kinds.nodes, ({ type, object }) => {
    const name = object.metadata.name!;
    if (type === "deleted") {
      heard.delete(name);
      const text = `Node ${name} event: Removing Node ${name} from Controller`;
      if (registered.delete(name)) events.event(object, "Normal", "RemovingNode", text);
      countNodes(() => evictions.forget(name));
      return;
    }
    hear(name, "", object);
    queue.add(name);
    countNodes(() => evictions.see(object));
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
        hear(metadata.name!, spec.renewTime ?? "", nodes.get(undefined, metadata.name!));
    },
    { namespace: dialect.data.nodeLeaseNamespace },
  );
  queue.add(everything);
  return { stopped: queue.stopped };

  /** When pods may be expelled faster or slower than before, every node is looked at again. */
  function countNodes(count: () => boolean): void {
    const wasStopped = evictions.stopped;
    if (!count()) return;
    if (evictions.stopped !== wasStopped) {
      log.info(
        evictions.stopped
          ? "no node is ready: no pods are expelled until one is"
          : "a node is ready: pods of others may be expelled",
      );
      // Whoever was silent together with all others may have been here all the time.
      if (wasStopped) excuse = clock.now();
    }
    queue.add(everyTaint);
  }

  /** Takes a renewed lease or a new heartbeat for a sign of life. */
  function hear(name: string, renewed: string, node: SeenNode | undefined): void {
    const before = heard.get(name);
    const lease = renewed || before?.lease || "";
    const heartbeat = readyOf(node)?.lastHeartbeatTime ?? "";
    if (!before || before.lease !== lease || before.heartbeat !== heartbeat)
      heard.set(name, { lease, heartbeat, at: clock.now() });
  }

  function readyOf(node: SeenNode | undefined): Condition | undefined {
    return node && conditionOf(node.status.conditions, "Ready");
  }

  /** Looks again when the next node may be overdue, at the latest after the monitor period. */
  async function lookAtAll(): Promise<{ againInMilliseconds: number }> {
    const now = clock.now();
    // After a pause of our own, or of the server, silence means nothing: everybody gets the whole time again.
    if (now - lastLook > everyMilliseconds * 3) excuse = now;
    lastLook = now;
    let next = now + everyMilliseconds;
    for (const node of nodes.items()) {
      const since = Math.max(heard.get(node.metadata.name!)?.at ?? now, excuse, view.lastFailure());
      const due = since + (readyOf(node) ? graceMilliseconds : startupGraceMilliseconds);
      if (due <= now) await silence(node);
      else next = Math.min(next, due);
    }
    return { againInMilliseconds: Math.max(shortestPause, next - now) };
  }

  async function silence(node: SeenNode): Promise<void> {
    const conditions = silentConditions(node, dialect, timeOfMillis(clock.now()));
    if (isDeepStrictEqual(conditions, node.status.conditions)) return await markPods(node);
    const { name } = node.metadata;
    if (conditionOf(node.status.conditions, "Ready")?.status === "True")
      events.event(node, "Normal", "NodeNotReady", `Node ${name} status is now: NodeNotReady`);
    log.warn("node stopped posting its status", {
      node: node.metadata.name,
      graceSeconds: graceMilliseconds / 1000,
    });
    await ignoreReasons(
      ["NotFound", "Conflict"],
      patchObject(
        client.of(kinds.nodes),
        node,
        { status: { conditions } },
        { subresource: "status", ifUnchanged: true },
      ),
    );
    await markPods(node);
  }

  /** Pods of a silent node are not ready: nobody knows how they are. */
  async function markPods({ metadata: { name } }: SeenNode): Promise<void> {
    for (const pod of onNode(name!)) {
      const ready = conditionOf(pod.status.conditions, "Ready");
      if (ready?.status !== "True") continue;
      const now = timeOfMillis(clock.now());
      const condition = { ...ready, status: "False", lastTransitionTime: now };
      await ignoreReasons(
        ["NotFound", "Conflict"],
        patchObject(
          client.of(kinds.pods),
          pod,
          { status: { conditions: [condition] } },
          { subresource: "status", type: "strategic" },
        ),
      );
      events.event(pod, "Warning", "NodeNotReady", "Node is not ready");
    }
  }

  /** The taints and labels of a node that follow from its conditions and other labels. */
  async function mend(name: string): Promise<{ againInMilliseconds: number } | void> {
    const node = nodes.get(undefined, name);
    if (!node) return;
    const wait = waitFor(node);
    const taints = taintsFor(node, dialect, timeOfMillis(clock.now()), wait === 0);
    if (!isDeepStrictEqual(taints, node.spec.taints ?? [])) await setTaints(node, taints);
    const labels = oldLabelsFor(node.metadata.labels ?? {}, dialect);
    if (Object.keys(labels).length > 0)
      await ignoreReasons(
        ["NotFound"],
        client.of(kinds.nodes).patch(name, "strategic", { metadata: { labels } }),
      );
    // Where nothing is expelled, a change of that wakes us.
    if (wait > 0 && wait < Infinity) return { againInMilliseconds: wait };
  }

  /** Milliseconds until a node that is not ready may expel its pods; one that does so already goes on. */
  function waitFor(node: SeenNode): number {
    const ready = readyOf(node)?.status;
    if (ready !== "False" && ready !== "Unknown") return 0;
    if (evictions.stopped) return Infinity;
    const { notReady, unreachable } = dialect.names.taints;
    const expels = node.spec.taints?.some(
      ({ key, effect }) => effect === "NoExecute" && (key === notReady || key === unreachable),
    );
    return expels ? 0 : evictions.turn(node);
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

/** No node can have these names. */
const everything = "*";
const everyTaint = "* taints";
