// A cache of the runtime's state: sandboxes and containers are listed every second, and only changed ones are
// inspected. After its own actions the agent inspects at once what they changed, without waiting for a
// relist.
import { type Clock, type Log, durationOfMillis } from "#base";
import {
  type Container,
  type ContainerRuntime,
  type ContainerStatus,
  type PodSandbox,
  containerState,
  millisecondsOf,
  sandboxState,
} from "#cri";
import type { Dialect } from "#dialect";
import type { Owns } from "./owner.ts";
import { relistPace } from "./relist-pace.ts";
import { followRuntimeEvents } from "./runtime-events.ts";
import { readRuntimeLabels, runtimeLabelNames } from "./runtime-labels.ts";
import {
  type ObservedContainer,
  type ObservedPod,
  type ObservedSandbox,
  nothingObserved,
  observedContainer,
  observedSandbox,
} from "./observed.ts";
import { terminationMessage } from "./termination-message.ts";

export interface PodName {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

export interface PodParts {
  readonly sandboxes?: readonly { readonly id: string }[];
  /** Sandboxes that the runtime has confirmed to be stopped; their status is not queried. */
  readonly stopped?: readonly { readonly id: string }[];
  readonly containers?: readonly { readonly id: string; readonly sandboxId: string }[];
}

export interface PodCache {
  /** Returns the last observed state of a pod. */
  cached(uid: string): ObservedPod | undefined;
  /**
   * Returns the last observed state, or an empty one. If the last inspection failed, inspects again and
   * rejects if that fails.
   */
  fresh(pod: PodName, signal?: AbortSignal): Promise<ObservedPod>;
  /** Reports whether the runtime has any part of a pod, even if it could not be inspected. */
  has(uid: string): boolean;
  /** Resolves after the first complete relist. Before that, a pod that is not cached may still exist. */
  readonly listed: Promise<void>;
  pods(): IterableIterator<ObservedPod>;
  refresh(pod: PodName, signal?: AbortSignal): Promise<ObservedPod>;
  /** Inspects the given parts of a pod now; the others keep their last observed state. */
  refreshParts(pod: PodName, parts: PodParts, signal?: AbortSignal): Promise<ObservedPod>;
  /** Drops a pod after the runtime has removed all of its observed parts. */
  forget(pod: PodName): void;
  /** Lists all pods now; `onChange` is called for those that changed. */
  relist(): Promise<void>;
  /** Relists periodically, and handles runtime events, until the signal is aborted. */
  follow(signal: AbortSignal): Promise<void>;
  sinceRelist(): number;
  /** Returns the kubelet's PLEG health message if the runtime has not been listed for too long. */
  problems(): readonly string[];
}

export interface PodCacheOptions {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly log: Log;
  readonly dialect: Dialect;
  /** Selects the sandboxes and containers of this agent; by default all with pod labels. */
  readonly owns?: Owns;
  readonly onChange: (observed: ObservedPod) => void;
  readonly periodMilliseconds?: number;
  /** Whether to relist rarely while runtime events are received. */
  readonly byEvents?: boolean;
  /** Called after every relist with its duration and the interval between its start and the previous one. */
  readonly onRelist?: (milliseconds: number, intervalMilliseconds: number) => void;
  /** Called when the stream of runtime events opens or fails. */
  readonly onFollow?: (isOpen: boolean) => void;
  /** Called with the latency of each runtime event. */
  readonly onEvent?: (latencyMilliseconds: number) => void;
  /** Called when a changed pod could not be inspected; a later relist retries. */
  readonly onDiscard?: () => void;
  /** Reads a container's termination message. */
  readonly readTerminationMessage?: typeof terminationMessage;
}

interface CachedPod {
  observed: ObservedPod;
  /** The state of each part as listed. */
  states: ReadonlyMap<string, number>;
  /** Position in the order of inspections; an older inspection never replaces a newer one. */
  order: number;
}

/** An inspected part with its state at that time. */
interface Inspected<T> {
  readonly state: number;
  readonly observed: T;
  /** Its status may not be final yet; the next relist inspects it again. */
  readonly provisional?: boolean;
}

interface Lists {
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

const creationMilliseconds = 2000;
const sigkillExitCode = 137;
const oomReportMilliseconds = 1000;

export function podCache(options: PodCacheOptions): PodCache {
  const {
    runtime,
    clock,
    log,
    dialect,
    onChange,
    onDiscard,
    periodMilliseconds = 1000,
    readTerminationMessage = terminationMessage,
  } = options;
  const names = runtimeLabelNames(dialect);
  const owns = options.owns ?? (({ [names.podUid]: uid }) => uid !== undefined);
  const cachedPods = new Map<string, CachedPod>();
  /** Removed pods, with the inspection that found this: a list that began earlier still contains them. */
  const deletedAt = new Map<string, number>();
  /** Pods that the runtime has but that could not be inspected: their cached state may be out of date. */
  const uninspected = new Set<string>();
  const { promise: listed, resolve: resolveListed } = Promise.withResolvers<void>();
  const containers = new Map<string, Inspected<ObservedContainer>>();
  const sandboxes = new Map<string, Inspected<ObservedSandbox>>();
  const pace = relistPace(clock, periodMilliseconds, options.byEvents === true);
  let lastOrder = 0;
  let relistedAt = clock.monotonic();
  let relistStartedAt = relistedAt;
  let failing = false;

  async function inspectContainer(
    id: string,
    sandboxId: string,
    signal?: AbortSignal,
  ): Promise<Inspected<ObservedContainer> | undefined> {
    const report = await unlessNotFound(runtime.containerStatus(id, signal));
    if (!report) return undefined;
    const { status } = report;
    const terminationText =
      status.state !== containerState.exited
        ? ""
        : await readTerminationMessage(status, readRuntimeLabels(status.annotations, dialect));
    const found = {
      state: status.state,
      observed: observedContainer(status, sandboxId, terminationText, dialect),
      provisional: mayBecomeOomKilled(status, clock.now()),
    };
    containers.set(id, found);
    return found;
  }
  const isProvisional = ({ id }: { readonly id: string }): boolean =>
    containers.get(id)?.provisional === true;
  /** Returns the cached state of an exited container, which no longer changes. */
  const exitedContainer = (id: string): Inspected<ObservedContainer> | undefined => {
    const known = containers.get(id);
    return known?.state === containerState.exited ? known : undefined;
  };
  async function inspectSandbox(
    id: string,
    signal?: AbortSignal,
  ): Promise<Inspected<ObservedSandbox> | undefined> {
    const report = await unlessNotFound(runtime.podSandboxStatus(id, signal));
    if (!report) return undefined;
    const found = { state: report.status.state, observed: observedSandbox(report.status) };
    sandboxes.set(id, found);
    return found;
  }
  async function containerOf(
    { id, state, podSandboxId }: Container,
    signal?: AbortSignal,
  ): Promise<ObservedContainer | undefined> {
    const known = containers.get(id);
    return (
      known?.state === state && !known.provisional ? known : await inspectContainer(id, podSandboxId, signal)
    )?.observed;
  }
  async function sandboxOf(
    { id, state }: PodSandbox,
    signal?: AbortSignal,
  ): Promise<ObservedSandbox | undefined> {
    const known = sandboxes.get(id);
    return (known?.state === state ? known : await inspectSandbox(id, signal))?.observed;
  }

  /** Inspects the listed parts of a pod and caches the result, unless a later inspection finished first. */
  async function inspectListed(
    pod: PodName,
    lists: Lists,
    order: number,
    signal?: AbortSignal,
  ): Promise<ObservedPod> {
    const isOutdated = (): boolean =>
      (cachedPods.get(pod.uid)?.order ?? 0) > order || isDeletedSince(pod, order);
    let found: ObservedPod;
    try {
      found = {
        ...pod,
        sandboxes: newestFirst(await Promise.all(lists.sandboxes.map((one) => sandboxOf(one, signal)))),
        containers: newestFirst(await Promise.all(lists.containers.map((one) => containerOf(one, signal)))),
      };
    } catch (error) {
      if (!isOutdated()) uninspected.add(pod.uid);
      throw error;
    }
    const before = cachedPods.get(pod.uid);
    if (isOutdated()) return before?.observed ?? nothingObserved(pod);
    uninspected.delete(pod.uid);
    dropRemovedParts(before?.observed, found);
    if (lists.sandboxes.length === 0 && lists.containers.length === 0) {
      cachedPods.delete(pod.uid);
      deletedAt.set(pod.uid, order);
    } else cachedPods.set(pod.uid, { observed: found, states: statesOf(lists), order });
    return found;
  }
  const isDeletedSince = ({ uid }: PodName, order: number): boolean => (deletedAt.get(uid) ?? 0) > order;
  function dropRemovedParts(before: ObservedPod | undefined, now: ObservedPod): void {
    for (const { id } of before?.containers ?? [])
      if (!now.containers.some((container) => container.id === id)) containers.delete(id);
    for (const { id } of before?.sandboxes ?? [])
      if (!now.sandboxes.some((sandbox) => sandbox.id === id)) sandboxes.delete(id);
  }

  async function refresh(pod: PodName, signal?: AbortSignal): Promise<ObservedPod> {
    const order = ++lastOrder;
    const labelSelector = { [names.podUid]: pod.uid };
    const [ofSandboxes, ofContainers] = await Promise.all([
      runtime.listPodSandboxes({ labelSelector }, signal),
      runtime.listContainers({ labelSelector }, signal),
    ]);
    return inspectListed(
      { uid: pod.uid, name: pod.name, namespace: pod.namespace },
      {
        sandboxes: ofSandboxes.filter(({ labels }) => owns(labels)),
        containers: ofContainers.filter(({ labels }) => owns(labels)),
      },
      order,
      signal,
    );
  }

  async function refreshParts(pod: PodName, parts: PodParts, signal?: AbortSignal): Promise<ObservedPod> {
    const started = ++lastOrder;
    const [ofSandboxes, ofContainers] = await Promise.all([
      Promise.all(
        (parts.sandboxes ?? []).map(async ({ id }) => ({ id, found: await inspectSandbox(id, signal) })),
      ),
      Promise.all(
        (parts.containers ?? []).map(async ({ id, sandboxId }) => ({
          id,
          found: exitedContainer(id) ?? (await inspectContainer(id, sandboxId, signal)),
        })),
      ),
    ]);
    for (const { id } of parts.stopped ?? []) {
      const known = sandboxes.get(id);
      if (!known) continue;
      const found = { state: sandboxState.notReady, observed: { ...known.observed, ready: false } };
      sandboxes.set(id, found);
      ofSandboxes.push({ id, found });
    }
    const before = cachedPods.get(pod.uid);
    // An inspection that began later is at least as recent.
    if (before && before.order > started) return before.observed;
    const states = new Map(before?.states);
    for (const { id, found } of ofSandboxes) put(states, `s${id}`, found?.state);
    for (const { id, found } of ofContainers) put(states, `c${id}`, found?.state);
    const observed: ObservedPod = {
      uid: pod.uid,
      name: pod.name,
      namespace: pod.namespace,
      sandboxes: newestFirst(replaced(before?.observed.sandboxes ?? [], ofSandboxes)),
      containers: newestFirst(replaced(before?.observed.containers ?? [], ofContainers)),
    };
    dropRemovedParts(before?.observed, observed);
    if (states.size === 0) cachedPods.delete(pod.uid);
    else cachedPods.set(pod.uid, { observed, states, order: started });
    return observed;
  }

  function forget({ uid }: PodName): void {
    const before = cachedPods.get(uid);
    if (before) dropRemovedParts(before.observed, nothingObserved(before.observed));
    cachedPods.delete(uid);
    uninspected.delete(uid);
    deletedAt.set(uid, ++lastOrder);
  }

  /** Reports whether a container was only just created: its worker is about to start and inspect it. */
  const isBeingCreated = ({ id, state, createdAt }: Container): boolean =>
    state === containerState.created &&
    !containers.has(id) &&
    isRecent(createdAt, clock.now(), creationMilliseconds);

  async function relist(): Promise<void> {
    const order = ++lastOrder;
    const interval = clock.monotonic() - relistStartedAt;
    relistStartedAt += interval;
    const [ofSandboxes, ofContainers] = await Promise.all([
      runtime.listPodSandboxes(),
      runtime.listContainers(),
    ]);
    const groups = new Map<
      string,
      { readonly pod: PodName; readonly sandboxes: PodSandbox[]; readonly containers: Container[] }
    >();
    const groupOf = (labels: Readonly<Record<string, string>>) => {
      const uid = labels[names.podUid];
      // Without this agent's labels it must not be touched.
      if (uid === undefined || !owns(labels)) return undefined;
      let group = groups.get(uid);
      if (!group)
        groups.set(
          uid,
          (group = {
            pod: { uid, name: labels[names.podName] ?? "", namespace: labels[names.podNamespace] ?? "" },
            sandboxes: [],
            containers: [],
          }),
        );
      return group;
    };
    for (const sandbox of ofSandboxes) groupOf(sandbox.labels)?.sandboxes.push(sandbox);
    for (const container of ofContainers)
      if (!isBeingCreated(container)) groupOf(container.labels)?.containers.push(container);
    for (const group of groups.values()) {
      const before = cachedPods.get(group.pod.uid);
      if (before && before.order > order) continue;
      const wasUninspected = uninspected.has(group.pod.uid);
      const same = before !== undefined && !wasUninspected && isSame(before.states, statesOf(group));
      if (same && !group.containers.some(isProvisional)) continue;
      try {
        const found = await inspectListed(group.pod, group, order);
        if (!isDeletedSince(group.pod, order) && !(same && reasonsOf(found) === reasonsOf(before.observed)))
          onChange(found);
      } catch (error) {
        // A pod that cannot be inspected does not affect the others; the next relist retries.
        onDiscard?.();
        if (!wasUninspected)
          log.warn("failed to inspect pod", {
            pod: `${group.pod.namespace}/${group.pod.name}`,
            uid: group.pod.uid,
            error: (error as Error).message,
          });
      }
    }
    resolveListed();
    for (const uid of uninspected) if (!groups.has(uid)) uninspected.delete(uid);
    for (const [uid, { observed, order: cachedOrder }] of cachedPods) {
      if (groups.has(uid) || cachedOrder > order) continue;
      cachedPods.delete(uid);
      dropRemovedParts(observed, nothingObserved(observed));
      onChange(nothingObserved(observed));
    }
    for (const [uid, deletedOrder] of deletedAt) if (deletedOrder < order) deletedAt.delete(uid);
    relistedAt = clock.monotonic();
    options.onRelist?.(relistedAt - relistStartedAt, interval);
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const events = followRuntimeEvents(
      {
        runtime,
        clock,
        dialect,
        owns,
        retryMilliseconds: () => pace.retryMilliseconds(),
        inspect: async (pod, until) => {
          const found = await refresh(pod, until);
          if (found.containers.some(isProvisional)) pace.relistWithin(oomReportMilliseconds);
          onChange(found);
        },
        onFollow: (isOpen) => {
          options.onFollow?.(isOpen);
          if (!isOpen) pace.streamFailed();
        },
        onEvent: options.onEvent,
        onDiscard,
      },
      signal,
    ).finally(() => pace.streamEnded());
    while (!signal.aborted) {
      try {
        await relist();
        if (failing) log.info("container runtime responds again");
        failing = false;
      } catch (error) {
        if (!failing)
          log.error("failed to list sandboxes and containers", { error: (error as Error).message });
        failing = true;
      }
      await pace.wait(signal);
    }
    await events;
  }

  return {
    cached: (uid) => cachedPods.get(uid)?.observed,
    fresh: async (pod, signal) =>
      uninspected.has(pod.uid)
        ? await refresh(pod, signal)
        : (cachedPods.get(pod.uid)?.observed ?? nothingObserved(pod)),
    has: (uid) => cachedPods.has(uid) || uninspected.has(uid),
    listed,
    pods: () => [...cachedPods.values()].map(({ observed }) => observed).values(),
    refresh,
    refreshParts,
    forget,
    relist,
    follow,
    sinceRelist: () => Math.max(0, clock.monotonic() - relistedAt - pace.slackMilliseconds()),
    problems: () => {
      const [elapsed, threshold] = [clock.monotonic() - relistedAt, pace.thresholdMilliseconds()];
      return elapsed > threshold
        ? [
            `PLEG is not healthy: pleg was last seen active ${durationOfMillis(elapsed)} ago; threshold is ${durationOfMillis(threshold)}`,
          ]
        : [];
    },
  };
}

/** Reports whether an exit may turn out to be an OOM kill, which some runtimes learn a moment later. */
const mayBecomeOomKilled = ({ state, exitCode, reason, finishedAt }: ContainerStatus, now: number): boolean =>
  state === containerState.exited &&
  exitCode === sigkillExitCode &&
  reason !== "OOMKilled" &&
  isRecent(finishedAt, now, oomReportMilliseconds);

/** A time far in the future is from before the machine's clock was set back. */
const isRecent = (at: number | bigint, now: number, milliseconds: number): boolean =>
  Math.abs(now - (millisecondsOf(at) ?? 0)) < milliseconds;

/** Resolves with undefined for a not-found error: a listed part may be removed before it is inspected. */
async function unlessNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if ((error as { code?: unknown }).code === "NOT_FOUND") return undefined;
    throw error;
  }
}

const reasonsOf = ({ containers }: ObservedPod): string => containers.map(({ reason }) => reason).join();

/**
 * Sorts by attempt, which only increases, because clocks may be set back; equal attempts by creation time.
 */
const newestFirst = <T extends WithAttempt>(items: readonly (T | undefined)[]): T[] =>
  items
    .filter((item) => item !== undefined)
    .toSorted((a, b) => attemptOf(b) - attemptOf(a) || b.createdAt - a.createdAt);

type WithAttempt = { readonly createdAt: number } & (
  | { readonly attempt: number }
  | { readonly runtimeLabels: { readonly restartCount: number } }
);
const attemptOf = (part: WithAttempt): number =>
  "attempt" in part ? part.attempt : part.runtimeLabels.restartCount;

/** Replaces the inspected parts in a list and drops those that no longer exist. */
function replaced<T extends { readonly id: string }>(
  items: readonly T[],
  inspected: readonly { readonly id: string; readonly found: Inspected<T> | undefined }[],
): (T | undefined)[] {
  return [
    ...items.filter(({ id }) => !inspected.some((part) => part.id === id)),
    ...inspected.map(({ found }) => found?.observed),
  ];
}

const statesOf = ({ sandboxes, containers }: Lists): Map<string, number> =>
  new Map([
    ...sandboxes.map(({ id, state }) => [`s${id}`, state] as const),
    ...containers.map(({ id, state }) => [`c${id}`, state] as const),
  ]);

function put(states: Map<string, number>, key: string, state: number | undefined): void {
  if (state === undefined) states.delete(key);
  else states.set(key, state);
}

function isSame(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, state] of a) if (b.get(key) !== state) return false;
  return true;
}
