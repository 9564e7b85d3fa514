// The scheduler: binds pending pods to nodes. Unschedulable pods report the reason and are retried when a
// relevant event occurs.
import { ApiError, type Clock, type Log, type Metrics, timeOfMillis } from "#base";
import { type ApiClient, type EventRecorder, kinds } from "#client";
import { type ClusterView, recorderFor, ignoreReasons, orUndefined } from "#controllerkit";
import type { Dialect } from "#dialect";
import { type Gates, defaultGates } from "#options";
import { ClusterCache, isFinished } from "./cluster-cache.ts";
import type { ClusterEvent, Snapshot } from "./framework.ts";
import type { NodeInfo, SeenNode, SeenPod } from "./node-info.ts";
import { admits } from "./node-admission.ts";
import { type FilterFailures, failureText, findNode } from "./placement.ts";
import { type Candidate, preempt, preemptionReason } from "./preemption.ts";
import { type CycleMetrics, type Finish, sampledShare } from "./plugin-metrics.ts";
import { type Profile, profileFrom } from "./profile.ts";
import { schedulerMetrics } from "./scheduler-metrics.ts";
import { resourcesOf } from "./requests.ts";
import { type QueuedPod, SchedulingQueue, priorityOf } from "./scheduling-queue.ts";
import { snapshotSource } from "./snapshot.ts";
import { bindVolumes } from "./volumes/bind-volumes.ts";
import { type VolumeDecision, reservationOf, volumeDecision } from "./volumes/volume-plugins.ts";
import { volumeView } from "./volumes/volume-view.ts";

export interface SchedulerOptions {
  readonly client: ApiClient;
  readonly view: ClusterView;
  readonly clock: Clock;
  /** Stops the scheduler. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly dialect: Dialect;
  readonly gates?: Gates;
  readonly metrics?: Metrics;
  readonly profiles?: readonly Profile[];
  readonly backoff?: { readonly initialMilliseconds: number; readonly maxMilliseconds: number };
  readonly random?: () => number;
}

/** The scheduling cycle that found a node for a pod. */
interface Attempt {
  readonly snapshot: Snapshot;
  readonly cycle: CycleMetrics | undefined;
  readonly startedAt: number;
}

const keyOf = ({ metadata }: SeenPod): string => `${metadata.namespace}/${metadata.name}`;

/** Runs the scheduler; resolves when it has stopped after the signal aborted. */
export async function runScheduler(options: SchedulerOptions): Promise<void> {
  const { client, clock, signal, log, dialect, gates = defaultGates, random = Math.random } = options;
  const view = options.view.scoped();
  const profiles = new Map(
    (options.profiles ?? [profileFrom({})]).map((profile) => [profile.schedulerName, profile]),
  );
  const recorders = new Map(
    [...profiles.keys()].map((component) => [component, recorderFor(options, component, "events")]),
  );
  const pods = client.of(kinds.pods);
  const cache = new ClusterCache();
  const pluginsByEvent = new Map<ClusterEvent, Set<string>>();
  for (const { plugins } of profiles.values())
    for (const { name, requeueEvents } of plugins)
      for (const event of requeueEvents)
        pluginsByEvent.set(event, (pluginsByEvent.get(event) ?? new Set()).add(name));
  const profileName = ({ spec }: SeenPod): string => spec.schedulerName ?? "default-scheduler";
  const measure =
    options.metrics &&
    schedulerMetrics(options.metrics, () => ({
      queue,
      cache,
      gated: () => [...seen.items()].filter((pod) => isWaiting(pod) && isGated(pod)).length,
      profileOf: ({ pod }) => profileName(pod),
      now: () => clock.now(),
    }));
  const queue = new SchedulingQueue({
    clock,
    incoming: measure?.incoming,
    signal,
    pluginsHelpedBy: (event) => pluginsByEvent.get(event) ?? new Set(),
    ...(options.backoff && {
      initialBackoffMilliseconds: options.backoff.initialMilliseconds,
      maxBackoffMilliseconds: options.backoff.maxMilliseconds,
    }),
  });
  /** Status and binding writes in progress. */
  const binding = new Set<Promise<void>>();
  /** Nominated nodes of pods, by pod. */
  const nominations = new Map<string, { readonly pod: SeenPod; readonly node: string }>();
  let start = 0;

  const isWaiting = (pod: SeenPod): boolean =>
    !pod.spec.nodeName &&
    profiles.has(profileName(pod)) &&
    pod.status.phase !== "Failed" &&
    pod.status.phase !== "Succeeded";
  const isGated = ({ spec }: SeenPod): boolean =>
    gates.enabled("PodSchedulingReadiness") && Boolean(spec.schedulingGates?.length);
  const withGatedFields = (pod: SeenPod): SeenPod =>
    gates.enabled("InPlacePodVerticalScaling") ? pod : withoutAllocations(pod);

  const seen = view.follow(kinds.pods, (event) => {
    const { object: pod } = event;
    const uid = pod.metadata.uid!;
    if (event.type === "deleted") {
      queue.delete(uid);
      nominations.delete(uid);
      cache.removePod(uid);
      if (pod.spec.nodeName) queue.onEvent("pod deleted");
      return;
    }
    if (pod.spec.nodeName) {
      queue.delete(uid);
      nominations.delete(uid);
      const wasCached = cache.has(uid);
      cache.setPod(withGatedFields(pod));
      if (isFinished(pod)) {
        if (wasCached) queue.onEvent("pod deleted");
      } else if (event.type === "added" || !event.old.spec.nodeName || haveLabelsChanged(event.old, pod))
        queue.onEvent("pod added");
      if (event.type === "updated" && isSmaller(withGatedFields(pod), withGatedFields(event.old)))
        queue.onEvent("pod deleted");
      return;
    }
    nominate(pod, pod.status.nominatedNodeName);
    if (!isWaiting(pod)) queue.delete(uid);
    else if (isGated(pod)) return;
    else if (event.type === "added") queue.add(pod);
    else queue.update(pod, mayFit(event.old, pod));
  });
  view.follow(kinds.nodes, (event) => {
    const { object: node } = event;
    if (event.type === "deleted") {
      cache.removeNode(node.metadata.name!);
      return queue.onEvent("node deleted");
    }
    const before = cache.nodes.get(node.metadata.name!);
    cache.setNode(node);
    const now = cache.nodes.get(node.metadata.name!);
    const takes = (pod: SeenPod): boolean => admits(now, pod, takeSnapshot());
    if (event.type === "added") return queue.onEvent("node added", takes);
    const changes = nodeChanges(event.old, node);
    for (const change of changes) queue.onEvent(change, takes);
    // For a pod that the node could not run before, it counts as a new node.
    if (changes.length > 0)
      queue.onEvent("node added", (pod) => takes(pod) && !admits(before, pod, takeSnapshot()));
  });
  const budgets = view.follow(kinds.podDisruptionBudgets);
  const volumes = volumeView(view, (event) => queue.onEvent(event));
  const takeSnapshot = snapshotSource(view, cache, volumes, { dialect, gates });

  try {
    await view.synced();
    for (;;) await schedule(await queue.take());
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await Promise.allSettled(binding);
  }

  function nominate(pod: SeenPod, node: string | undefined): void {
    if (node) nominations.set(pod.metadata.uid!, { pod, node });
    else nominations.delete(pod.metadata.uid!);
  }

  function nominatedPods(): Map<string, SeenPod[]> {
    const byNode = new Map<string, SeenPod[]>();
    for (const { pod, node } of nominations.values()) byNode.set(node, [...(byNode.get(node) ?? []), pod]);
    return byNode;
  }

  async function schedule(entry: QueuedPod): Promise<void> {
    const { pod } = entry;
    if (pod.metadata.deletionTimestamp) {
      const text = `skip schedule deleting pod: ${keyOf(pod)}`;
      recorderOf(pod).event(pod, "Warning", "FailedScheduling", text, "Scheduling");
      return;
    }
    const current = seen.get(pod.metadata.namespace, pod.metadata.name!);
    if (current?.metadata.uid !== pod.metadata.uid || !isWaiting(current!) || cache.has(pod.metadata.uid!))
      return;
    const startedAt = clock.now();
    const profile = profiles.get(profileName(pod))!;
    const snapshot = takeSnapshot();
    const cycle = measure?.plugins.cycle(profileName(pod), random() < sampledShare);
    try {
      if (snapshot.nodes.size === 0) {
        reject(entry, new Set(), "no nodes available to schedule pods");
        return;
      }
      const nominated = nominatedPods();
      const found = findNode(pod, snapshot, {
        plugins: profile.plugins,
        nominated,
        random,
        start: start++,
        percentageOfNodesToScore: profile.percentageOfNodesToScore ?? 0,
        cycle,
      });
      measure?.decided(clock.now() - startedAt);
      if (found.node) startBinding(entry, found.node, { snapshot, cycle, startedAt });
      else {
        measure?.failed(profileName(pod), "unschedulable", clock.now() - startedAt);
        await postFilter(entry, profile, { snapshot, cycle }, found.failures);
      }
    } catch (error) {
      if (signal.aborted) return;
      measure?.failed(profileName(pod), "error", clock.now() - startedAt);
      log.error("scheduling attempt failed", { pod: keyOf(pod), error: (error as Error).message });
      queue.retry(entry);
      report(pod, "SchedulerError", (error as Error).message);
    }
  }

  /** Tries preemption for an unschedulable pod, and reports why it is pending. */
  async function postFilter(
    entry: QueuedPod,
    profile: Profile,
    { snapshot, cycle }: Pick<Attempt, "snapshot" | "cycle">,
    failures: FilterFailures,
  ): Promise<void> {
    const { pod } = entry;
    const rejections = failures.forAll ? [failures.forAll] : [...failures.byNode.values()];
    const plugins = new Set(rejections.map(({ plugin }) => plugin).filter(Boolean));
    if (profile.preempts === false) return reject(entry, plugins, failureText(failures));
    measure?.preemptionTried();
    const finished = [cycle?.start("PostFilter"), cycle?.startPlugin?.("PostFilter", "DefaultPreemption")];
    const result = preempt(pod, snapshot, failures, {
      plugins: profile.plugins,
      nominated: nominatedPods(),
      budgets: [...budgets.items()],
      limits: profile.candidateLimits,
      random,
      cycle,
    });
    if (result.candidate) await evictVictims(pod, result.candidate);
    for (const finish of finished) finish?.(result.candidate ? "Success" : "Unschedulable");
    if (result.candidate) {
      nominate(pod, result.candidate.node);
      reject(entry, plugins, failureText(failures), result.candidate.node);
      return;
    }
    const isVoid = result.isEligible && nominations.delete(pod.metadata.uid!);
    reject(entry, plugins, failureText(failures, result.message), isVoid ? null : undefined);
  }

  async function evictVictims(pod: SeenPod, { node, victims }: Candidate): Promise<void> {
    // Clear the nomination of lower-priority pods to this node.
    for (const { pod: other, node: nominatedTo } of nominations.values())
      if (
        nominatedTo === node &&
        other.metadata.uid !== pod.metadata.uid &&
        priorityOf(other) < priorityOf(pod)
      ) {
        nominations.delete(other.metadata.uid!);
        await patchStatus(other, { nominatedNodeName: null });
      }
    for (const victim of victims) {
      const { name, namespace, uid } = victim.metadata;
      if (victim.metadata.deletionTimestamp) continue;
      const condition = {
        type: "DisruptionTarget",
        status: "True",
        reason: preemptionReason,
        message: `${profileName(pod)}: preempting to accommodate a higher priority pod`,
        lastProbeTime: null,
        lastTransitionTime: timeOfMillis(clock.now()),
      };
      if (gates.enabled("PodDisruptionConditions")) await patchStatus(victim, { conditions: [condition] });
      await ignoreReasons(["NotFound", "Conflict"], pods.delete(name!, { namespace: namespace!, uid: uid! }));
      recorderOf(pod).event(
        victim,
        "Normal",
        "Preempted",
        `Preempted by a pod on node ${node}`,
        "Preempting",
        { related: pod },
      );
      log.verbose(2, "pod preempted", { pod: keyOf(victim), by: keyOf(pod), node });
    }
    measure?.preempted(victims.length);
  }

  function recorderOf(pod: SeenPod): EventRecorder {
    return recorders.get(profileName(pod))!;
  }

  function reject(
    entry: QueuedPod,
    plugins: ReadonlySet<string>,
    message: string,
    nominatedNode?: string | null,
  ): void {
    queue.putBack(entry, plugins);
    report(entry.pod, "Unschedulable", message, nominatedNode);
  }

  /**
   * Records in an event and a condition why the pod is not scheduled; sets its nominated node, or removes it with
   * null.
   */
  function report(
    pod: SeenPod,
    reason: "Unschedulable" | "SchedulerError",
    message: string,
    nominatedNode?: string | null,
  ): void {
    recorderOf(pod).event(pod, "Warning", "FailedScheduling", message, "Scheduling");
    const before = pod.status.conditions?.find(({ type }) => type === "PodScheduled");
    const isSame = before?.status === "False" && before.reason === reason && before.message === message;
    if (isSame && nominatedNode === undefined) return;
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason,
      message,
      lastProbeTime: null,
      lastTransitionTime: before?.status === "False" ? before.lastTransitionTime : timeOfMillis(clock.now()),
    };
    // Written in the background: the next pod does not wait for it.
    const writing = patchStatus(pod, {
      conditions: [condition],
      ...(nominatedNode !== undefined && { nominatedNodeName: nominatedNode }),
    })
      .catch((error: unknown) =>
        log.verbose(2, "condition not written", { pod: keyOf(pod), error: (error as Error).message }),
      )
      .finally(() => binding.delete(writing));
    binding.add(writing);
  }

  async function patchStatus({ metadata }: SeenPod, status: object): Promise<void> {
    const { name, namespace, uid } = metadata;
    await ignoreReasons(
      ["NotFound", "Conflict"],
      pods.patch(
        name!,
        "strategic",
        { metadata: { uid }, status },
        { namespace: namespace!, subresource: "status" },
      ),
    );
  }

  /** Assumes the pod at once and binds it in the background: the next pod does not wait for the server. */
  function startBinding(entry: QueuedPod, node: NodeInfo, attempt: Attempt): void {
    const { pod } = entry;
    const { snapshot, cycle } = attempt;
    const reserved = [cycle?.start("Reserve"), cycle?.startPlugin?.("Reserve", "VolumeBinding")];
    const decision = volumeDecision(pod, node, snapshot);
    if (decision) volumes.reservations.set(pod.metadata.uid!, reservationOf(pod, node.name, decision));
    for (const finish of reserved) finish?.("Success");
    cache.assume(pod, node.name);
    nominations.delete(pod.metadata.uid!);
    measure?.bindings.add();
    const running = bind(entry, node.name, decision, attempt).finally(() => {
      measure?.bindings.add(-1);
      volumes.reservations.delete(pod.metadata.uid!);
      binding.delete(running);
    });
    binding.add(running);
  }

  async function bind(
    entry: QueuedPod,
    node: string,
    decision: VolumeDecision | undefined,
    { cycle, startedAt: began }: Attempt,
  ): Promise<void> {
    const { pod } = entry;
    const start = (point: "PreBind" | "Bind", plugin: string): readonly (Finish | undefined)[] => [
      cycle?.start(point),
      cycle?.startPlugin?.(point, plugin),
    ];
    let finished = start("PreBind", "VolumeBinding");
    const { namespace, name, uid } = pod.metadata;
    let hasVolumes = false;
    const isPresent = (): boolean => seen.get(namespace, name!)?.metadata.uid === uid;
    try {
      if (decision)
        await bindVolumes(
          { client, clock, signal, volumes, nodes: cache.nodes, isPresent },
          pod,
          node,
          decision,
        );
      hasVolumes = true;
      for (const finish of finished) finish?.("Success");
      finished = start("Bind", "DefaultBinder");
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace!)}/pods/${encodeURIComponent(name!)}/binding`;
      await client.request("POST", path, {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name, namespace, uid },
        target: { kind: "Node", name: node },
      });
      for (const finish of finished) finish?.("Success");
    } catch (error) {
      for (const finish of finished) finish?.("Error");
      const unreserved = cycle?.start("Unreserve");
      cache.forget(uid!);
      unreserved?.("Success");
      if (signal.aborted) return;
      queue.onEvent("pod deleted");
      if (!isPresent()) return;
      // Deleted, or bound by another client: the watch will report it.
      const isSettled = error instanceof ApiError && (error.code === 404 || error.code === 409);
      const fresh = isSettled
        ? await orUndefined(pods.get(name!, { namespace: namespace! })).catch(() => pod)
        : pod;
      if (fresh?.metadata.uid !== uid || fresh?.spec.nodeName) return;
      log.warn("binding failed; the pod will be retried", {
        pod: keyOf(pod),
        error: (error as Error).message,
      });
      measure?.failed(profileName(pod), "error", clock.now() - began);
      queue.retry(entry);
      const step = hasVolumes
        ? `Bind plugin "DefaultBinder": `
        : `PreBind plugin "VolumeBinding": binding volumes: `;
      report(pod, "SchedulerError", `running ${step}${(error as Error).message}`);
      return;
    }
    measure?.bound(profileName(pod), entry, clock.now() - began);
    recorderOf(pod).event(
      pod,
      "Normal",
      "Scheduled",
      `Successfully assigned ${namespace}/${name} to ${node}`,
      "Binding",
    );
  }
}

/** Removes allocated resources, which count only if pods can be resized in place. */
function withoutAllocations(pod: SeenPod): SeenPod {
  const { containerStatuses } = pod.status;
  if (!containerStatuses?.some(({ allocatedResources }) => allocatedResources)) return pod;
  const statuses = containerStatuses.map((each) => {
    const { allocatedResources: _, ...rest } = each;
    return rest;
  });
  return { ...pod, status: { ...pod.status, containerStatuses: statuses } };
}

/** Reports whether a pod requests less of a resource than before, as after a resize. */
function isSmaller(pod: SeenPod, old: SeenPod): boolean {
  const { requests } = resourcesOf(pod);
  return Object.entries(resourcesOf(old).requests).some(([name, amount]) => (requests[name] ?? 0) < amount);
}

const haveLabelsChanged = (old: SeenPod, pod: SeenPod): boolean =>
  JSON.stringify(old.metadata.labels) !== JSON.stringify(pod.metadata.labels);

/** Reports whether a change of a pending pod may affect scheduling; a status change does not. */
const mayFit = (old: SeenPod, pod: SeenPod): boolean =>
  haveLabelsChanged(old, pod) ||
  old.metadata.deletionTimestamp !== pod.metadata.deletionTimestamp ||
  JSON.stringify(old.spec) !== JSON.stringify(pod.spec);

/** Returns the changes of a node that may make pods fit; heartbeats do not. */
function nodeChanges(old: SeenNode, node: SeenNode): ClusterEvent[] {
  const differ = (of: (node: SeenNode) => unknown): boolean =>
    JSON.stringify(of(old) ?? null) !== JSON.stringify(of(node) ?? null);
  const changes: ClusterEvent[] = [];
  if (differ(({ status }) => status.allocatable)) changes.push("node allocatable");
  if (differ(({ metadata }) => metadata.labels)) changes.push("node labels");
  if (differ(({ spec }) => [spec.taints, spec.unschedulable])) changes.push("node taints");
  return changes;
}
