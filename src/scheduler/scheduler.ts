// Ties pods without a node to one. Pods that fit nowhere are said so, and looked at again when something
// changes, or after a while.
import type { Node, Pod } from "#api";
import { ApiError, type Clock, type Log, timeOfMillis } from "#base";
import { type ApiClient, kinds } from "#client";
import { type ClusterView, eventRecorder, workQueue } from "#controllerkit";
import type { Dialect } from "#dialect";
import { choose } from "./choose.ts";
import { type SeenPod, isOver, podsByNode } from "./pods-by-node.ts";

export interface SchedulerOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  /** Ends the scheduler. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly dialect: Dialect;
  readonly view: ClusterView;
}

export const schedulerName = "default-scheduler";
/** Pods that fit nowhere are tried again this often although nothing seems to have changed. */
const patienceMilliseconds = 60_000;
const firstPause = 1000;
const longestPause = 10_000;

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;
const isOurs = ({ spec, metadata }: Pod): boolean =>
  !spec.nodeName &&
  (spec.schedulerName ?? schedulerName) === schedulerName &&
  !spec.schedulingGates?.length &&
  !metadata.deletionTimestamp;

/** Runs until the signal; resolves when everything has ended. */
export async function runScheduler({
  client,
  clock,
  signal,
  log,
  dialect,
  view: shared,
}: SchedulerOptions): Promise<void> {
  const view = shared.scoped();
  const events = eventRecorder({ client, clock, log, component: schedulerName, form: "events" });
  const pods = client.of(kinds.pods);
  const onNodes = podsByNode();
  /** Pods that fit nowhere, by how often they were tried. */
  const unfit = new Map<string, number>();
  const queue = workQueue({
    clock,
    signal,
    // One at a time: each pod must see where the one before it went.
    workers: 1,
    work: schedule,
    onFailure: (pod, error) =>
      log.warn("a pod could not be scheduled; it is tried again", { pod, error: error.message }),
  });
  const seen = view.follow(kinds.pods, (event) => {
    onNodes.see(event);
    const { object } = event;
    if (event.type === "deleted" || isOver(object)) {
      unfit.delete(keyOf(object));
      if (object.spec.nodeName) retryUnfit();
    } else if (isOurs(object) && (event.type === "added" || !isOurs(event.old) || matters(event.old, object)))
      queue.add(keyOf(object));
  });
  const nodes = view.follow(kinds.nodes, (event) => {
    if (event.type !== "updated" || nodeMatters(event.old, event.object)) retryUnfit();
  });
  await Promise.all([queue.stopped, view.stopped()]);

  function retryUnfit(): void {
    for (const [key, tries] of unfit)
      queue.addAfter(key, Math.min(longestPause, firstPause * 2 ** Math.min(tries - 1, 10)));
  }

  async function schedule(key: string): Promise<{ againInMilliseconds: number } | void> {
    await view.synced();
    const [namespace = "", name = ""] = key.split("/");
    const pod = seen.get(namespace, name);
    if (!pod || !isOurs(pod) || onNodes.has(pod)) {
      unfit.delete(key);
      return;
    }
    const choice = choose(pod, [...nodes.items()], (node) => onNodes.of(node), dialect);
    if (choice.node === undefined) {
      unfit.set(key, (unfit.get(key) ?? 0) + 1);
      await tellUnfit(pod, choice.why);
      return { againInMilliseconds: patienceMilliseconds };
    }
    unfit.delete(key);
    await bind(pod, choice.node);
  }

  async function bind(pod: SeenPod, node: string): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    onNodes.assume(pod, node);
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace!)}/pods/${encodeURIComponent(name!)}/binding`;
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name, namespace, uid },
      target: { kind: "Node", name: node },
    };
    try {
      await client.request("POST", path, binding);
    } catch (error) {
      onNodes.forget(pod);
      // Gone, or bound by somebody else: the watch tells.
      if (error instanceof ApiError && (error.code === 404 || error.code === 409)) return;
      throw error;
    }
    events.event(
      pod,
      "Normal",
      "Scheduled",
      `Successfully assigned ${namespace}/${name} to ${node}`,
      "Binding",
    );
  }

  async function tellUnfit(pod: SeenPod, why: string): Promise<void> {
    events.event(pod, "Warning", "FailedScheduling", why, "Scheduling");
    const before = pod.status.conditions?.find(({ type }) => type === "PodScheduled");
    if (before?.status === "False" && before.reason === "Unschedulable" && before.message === why) return;
    const lastTransitionTime =
      before?.status === "False" ? before.lastTransitionTime : timeOfMillis(clock.now());
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message: why,
      lastProbeTime: null,
      lastTransitionTime,
    };
    const { name, namespace, uid } = pod.metadata;
    try {
      await pods.patch(
        name!,
        "strategic",
        { metadata: { uid }, status: { conditions: [condition] } },
        { namespace: namespace!, subresource: "status" },
      );
    } catch (error) {
      if (!(error instanceof ApiError && (error.code === 404 || error.code === 409))) throw error;
    }
  }
}

/** Whether a change of a waiting pod may make it fit; its own status does not. */
const matters = (old: Pod, pod: Pod): boolean =>
  JSON.stringify([old.spec, old.metadata.labels, old.metadata.uid]) !==
  JSON.stringify([pod.spec, pod.metadata.labels, pod.metadata.uid]);

/** Whether a change of a node may make pods fit; heartbeats do not. */
function nodeMatters(old: Node, node: Node): boolean {
  const facts = ({ metadata, spec, status }: Node): unknown => [
    metadata.labels,
    spec,
    status.allocatable,
    status.conditions?.map(({ type, status: is }) => [type, is]),
  ];
  return JSON.stringify(facts(old)) !== JSON.stringify(facts(node));
}
