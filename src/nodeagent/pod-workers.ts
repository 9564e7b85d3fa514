// The pods of this node: one worker each, fed by the sources and by what the runtime shows. This is the
// driver: it performs what next() and plan() decided, and tells the status.
import type { Pod, PodStatus } from "#api";
import { millisOfTime, timeOfMillis } from "#base";
import { type ObservedPod, hasRunningContainers, isRunningPod } from "./containers/observed.ts";
import { restoredPod } from "./containers/restored-pod.ts";
import { hostPortsOf, portsCollide } from "./node/admission.ts";
import { logFolderOf } from "./plan/sandbox-config.ts";
import { isDeleted, isFinished, isStatic, keyOf, nameOf, namespaceOf, referenceTo, uidOf } from "./pod.ts";
import { registryOf } from "./registry.ts";
import {
  LeftoverError,
  type PodAdmission,
  type PodEvictor,
  type PodRegistry,
  type PodMetrics,
  type WorkingPod,
} from "./interfaces.ts";
import {
  blockedStatus,
  computeStatus,
  hasInitialized,
  publishable,
  terminatedStatus,
} from "./status/compute.ts";
import type { StatusWriter } from "./status/writer.ts";
import { type PodMemory, type SyncContext, freshMemory } from "./sync/context.ts";
import { removePod, stopContainers, stopSandboxes } from "./sync/stop.ts";
import { type SyncOutcome, hasMore, syncPod } from "./sync/sync-pod.ts";
import {
  type Ending,
  type StopReason,
  type WorkerState,
  begin,
  endsByItself,
  graceOf,
} from "./worker/state.ts";
import { type Done, type Worker, worker } from "./worker/worker.ts";

export interface PodEntry {
  readonly worker: Worker;
  readonly memory: PodMemory;
  /** What we found last. */
  status: PodStatus | undefined;
  /** Nobody wants it any more: when it is over, it is forgotten. */
  removed: boolean;
  /** Whether its init containers were done when it was told to end; undefined before that. */
  begun?: boolean;
  /** Pods that must have ended before this one begins: they make room for it, or hold ports that it wants. */
  awaits?: readonly string[];
  /** Its containers, volumes and folders are gone. */
  cleared: boolean;
  /** What came of the last action: known when it ran to its end and what it changed was looked at. */
  outcome: "none yet" | "known" | "unknown";
  refreshedAt: number;
  /** Milliseconds until a restarted container counts as running. */
  holdMilliseconds: number;
}

export interface PodsOptions {
  readonly context: SyncContext;
  readonly admission: PodAdmission;
  readonly runtimeName: () => string;
  /** Undefined when there is no API server. */
  readonly writer: StatusWriter | undefined;
  /** The object in the API server that stands for a static pod. */
  readonly mirrorOf: (pod: Pod) => Pod | undefined;
  readonly syncMilliseconds: number;
  readonly tally?: PodMetrics;
  /** Told when a pod is gone from this node. */
  readonly onGone?: (pod: Pod) => void;
}

export interface Pods extends PodEvictor {
  readonly registry: PodRegistry;
  /** A pod that should run here, new or changed. */
  set(pod: Pod): void;
  /** A pod that should not run here any more. */
  drop(uid: string): void;
  /** The runtime shows something new of a pod. Unknown pods are ended once all sources have spoken. */
  seen(observed: ObservedPod, sourcesReady: boolean): void;
  wake(uid: string): void;
  /** Something that the pod refers to changed: its volumes are brought up to date. */
  refresh(uid: string): void;
  has(uid: string): boolean;
  all(): readonly Pod[];
  working(): readonly WorkingPod[];
  close(): Promise<void>;
}

/** Pods are looked at somewhat before their time is over, so that not all come at once. */
const soonest = 0.9;
const pastDeadline: Ending = {
  reason: "DeadlineExceeded",
  message: "Pod was active on the node longer than the specified deadline",
  final: true,
};

export function pods(options: PodsOptions): Pods {
  const { context, writer, tally } = options;
  const { clock, log, cache, probes, events, dialect } = context;
  const entries = new Map<string, PodEntry>();
  const podOf = (entry: PodEntry): Pod => entry.worker.state().pod;
  const isOwnStatic = (pod: Pod): boolean => isStatic(pod, dialect);
  const named = (pod: Pod) => ({ uid: uidOf(pod), name: nameOf(pod), namespace: namespaceOf(pod) });

  function add(state: WorkerState, removed: boolean): PodEntry {
    const uid = uidOf(state.pod);
    const entry: PodEntry = {
      worker: worker(state, { clock, log, act: (current, signal) => counted(entry, current, signal) }),
      memory: freshMemory(),
      status: undefined,
      removed,
      cleared: false,
      outcome: "none yet",
      refreshedAt: clock.now(),
      holdMilliseconds: 0,
    };
    entries.set(uid, entry);
    tally?.added(state.pod);
    return entry;
  }

  async function counted(entry: PodEntry, state: WorkerState, signal: AbortSignal): Promise<Done> {
    const over = tally?.acting(uidOf(state.pod), state.at);
    try {
      return await act(entry, state, signal);
    } finally {
      over?.();
    }
  }

  function act(entry: PodEntry, state: WorkerState, signal: AbortSignal): Promise<Done> {
    if (state.at === "syncing") return sync(entry, state.pod, signal);
    if (state.at === "terminating") return terminate(entry, state, signal);
    return clear(entry, state, signal);
  }

  async function sync(entry: PodEntry, pod: Pod, signal: AbortSignal): Promise<Done> {
    // A static pod that was edited is a new pod of the old name: the old one goes first.
    if (
      isOwnStatic(pod) &&
      [...entries.values()].some(
        (other) => other !== entry && keyOf(podOf(other)) === keyOf(pod) && !other.cleared,
      )
    )
      return { againMilliseconds: 250 };
    if (entry.awaits?.some(isHere)) return { againMilliseconds: 250 };
    // Whoever waited to see whether a restart holds looks anew: it may have ended since. So does whoever does
    // not know what came of the last action.
    let observed = await (entry.holdMilliseconds > 0 || entry.outcome === "unknown"
      ? cache.refresh(named(pod), signal)
      : cache.fresh(named(pod), signal));
    let status = look(entry, pod, observed, { over: false });
    const late = deadline(pod, status);
    if (late !== undefined && late <= 0) {
      events.event(referenceTo(pod), "Normal", pastDeadline.reason, pastDeadline.message);
      return { next: { type: "stop", reason: { kind: "ended", ...pastDeadline } } };
    }
    const blocked = pod.status?.phase === "Pending" ? options.admission.blocks?.(pod) : undefined;
    if (blocked) {
      publish(entry, pod, (entry.status = blockedStatus(status, blocked)), true);
      return { againMilliseconds: options.syncMilliseconds };
    }
    publish(entry, pod, status, true);
    if (isOver(status)) return { next: { type: "stop", reason: { kind: "finished" } } };
    let outcome: SyncOutcome = { acted: true };
    entry.outcome = "unknown";
    try {
      outcome = await syncPod(context, pod, observed, entry.memory, signal);
      if (!outcome.acted && clock.now() - entry.refreshedAt >= options.syncMilliseconds * soonest) {
        entry.refreshedAt = clock.now();
        context.objects.watch(pod);
        await context.volumes.refresh(pod);
      }
      const waits = [
        outcome.againMilliseconds,
        late,
        options.syncMilliseconds * (soonest + Math.random() * (1 - soonest)),
      ].filter((wait) => wait !== undefined);
      return { againMilliseconds: Math.max(0, Math.min(...waits)) };
    } finally {
      if (!signal.aborted) {
        const { acted, simple, started = [] } = outcome;
        const looked = !acted
          ? observed
          : simple
            ? cache.refreshParts(named(pod), { containers: started }, signal)
            : cache.refresh(named(pod), signal);
        observed = await Promise.resolve(looked).then(
          (found) => {
            entry.outcome = "known";
            return found;
          },
          () => observed,
        );
        status = look(entry, pod, observed, { over: false });
        publish(entry, pod, status, true);
        // What is found here is found by nobody else: no later look finds it changed.
        if (isOver(status) || hasMore(context, pod, observed, outcome, entry.memory)) entry.worker.wake();
      }
    }
  }

  async function terminate(
    entry: PodEntry,
    { pod, graceSeconds, reason }: WorkerState & { readonly at: "terminating" },
    signal: AbortSignal,
  ): Promise<Done> {
    const ended = endedBy(reason);
    probes.stopping(uidOf(pod));
    const { outcome } = entry;
    const certain = outcome === "known";
    const observed =
      (certain ? cache.cached(uidOf(pod)) : undefined) ?? (await cache.refresh(named(pod), signal));
    entry.outcome = "unknown";
    const before = look(entry, pod, observed, { over: false, ...ended });
    entry.begun ??= hasInitialized(pod, before);
    publish(entry, pod, before, true);
    await ending(pod, signal, async () => {
      await stopContainers(
        context,
        pod,
        observed,
        endsByItself(reason) ? undefined : graceSeconds,
        entry.memory,
        signal,
      );
      // An empty sandbox is in nobody's way and is ended when the pod is gone, unless it may not be empty or
      // holds something of the node's.
      if (!certain || hostPortsOf(pod).length > 0)
        await stopSandboxes(context, observed, entry.memory, { signal });
    });
    const after = await cache.refreshParts(
      named(pod),
      { containers: observed.containers.filter(({ state }) => state !== "exited") },
      signal,
    );
    if (hasRunningContainers(after)) throw new Error("containers still run after they were stopped");
    const late = reason.kind === "deleted" && (deadline(pod, before) ?? 1) <= 0;
    if (late) events.event(referenceTo(pod), "Normal", pastDeadline.reason, pastDeadline.message);
    entry.status = look(entry, pod, after, { over: true, ...ended, ...(late && { ended: pastDeadline }) });
    probes.forget(uidOf(pod));
    entry.outcome = outcome;
    return { next: { type: "stopped" } };
  }

  async function clear(
    entry: PodEntry,
    { pod, reason }: WorkerState & { readonly at: "terminated" },
    signal: AbortSignal,
  ): Promise<Done> {
    const uid = uidOf(pod);
    const gone = entry.removed || isDeleted(pod);
    if (!isRejection(entry, reason)) {
      const status =
        entry.status ??
        look(entry, pod, await cache.fresh(named(pod), signal), { over: true, ...endedBy(reason) });
      entry.status = terminatedStatus(pod, status, isOwnStatic(pod), entry.begun);
    }
    publish(entry, pod, entry.status!, false);
    // Foreign files are no reason to keep a pod; housekeeping looks after the folder.
    const leave = (error: unknown): void => {
      if (!(error instanceof LeftoverError)) throw error;
      log.warn("something is left in the folder of a pod that the agent did not put there", {
        pod: keyOf(pod),
        uid,
        error: error.message,
      });
    };
    await context.volumes.release(uid).catch(leave);
    // What the runtime never had is found by its folder alone, which therefore goes last.
    if (gone && !entry.cleared && !cache.has(uid))
      await context.files.removeLogs(logFolderOf(pod, context.settings.logFolder));
    if (gone && !entry.cleared) await context.files.remove(uid).catch(leave);
    // Nothing of it runs or is mounted: the object may go. What is left is in nobody's way, and is found by
    // its labels if we die here.
    let trouble: Error | undefined;
    if (isDeleted(pod) && writer && !isOwnStatic(pod) && !entry.removed)
      await writer.remove(pod).catch((error: Error) => (trouble = error));
    // What ends for the node's sake leaves no logs and layers behind either: it may be their room that the
    // node lacks.
    if ((gone && !entry.cleared) || (isForTheNode(reason) && cache.has(uid)))
      await removeLeftovers(entry, pod, signal).catch(alsoReleasing(uid));
    else
      await ending(
        pod,
        signal,
        async () =>
          await stopSandboxes(context, await cache.fresh(named(pod), signal), entry.memory, { signal }),
      );
    await context.cgroups.release(uid);
    for (const contributor of context.contributors ?? []) contributor.release?.(uid);
    entry.cleared ||= gone;
    if (trouble) throw trouble;
    // One that nobody wants since a moment ago is not cleared yet: that comes next.
    if (entry.removed && gone) {
      const mirror = options.mirrorOf(pod);
      if (mirror) await writer?.settled(uidOf(mirror));
      forget(entry);
    }
    return {};
  }

  /** Tells when a pod cannot be ended. */
  async function ending(pod: Pod, signal: AbortSignal, end: () => Promise<unknown>): Promise<void> {
    try {
      await end();
    } catch (error) {
      if (!signal.aborted)
        events.event(
          referenceTo(pod),
          "Warning",
          "FailedKillPod",
          `error killing pod: ${(error as Error).message}`,
        );
      throw error;
    }
  }

  /**
   * A process that the runtime has lost sight of keeps it from removing the container: it ends with the pod's
   * control group.
   */
  const alsoReleasing =
    (uid: string) =>
    async (error: unknown): Promise<never> => {
      await context.cgroups.release(uid).catch(() => undefined);
      throw error;
    };

  async function removeLeftovers(entry: PodEntry, pod: Pod, signal: AbortSignal): Promise<void> {
    await context.files.removeLogs(logFolderOf(pod, context.settings.logFolder));
    await ending(
      pod,
      signal,
      async () => await removePod(context, await cache.fresh(named(pod), signal), signal),
    );
    // An action that was cut short may have left something that nobody has seen.
    const left = entry.outcome === "known" ? undefined : await cache.refresh(named(pod), signal);
    if (left && (left.sandboxes.length > 0 || left.containers.length > 0)) {
      await removePod(context, left, signal);
      await cache.refresh(named(pod), signal);
    }
    cache.forget(named(pod));
    context.objects.forget(uidOf(pod));
    context.restarts.forget(`${uidOf(pod)}/`);
  }

  function forget(entry: PodEntry): void {
    const pod = podOf(entry);
    entries.delete(uidOf(pod));
    writer?.forget(uidOf(pod));
    tally?.forgotten(uidOf(pod));
    void entry.worker.close();
    options.onGone?.(pod);
  }

  /** Lets the probes follow, and computes the status. */
  function look(
    entry: PodEntry,
    pod: Pod,
    observed: ObservedPod,
    how: { readonly over: boolean; readonly ended?: Ending },
  ): PodStatus {
    const old = entry.status ?? options.mirrorOf(pod)?.status ?? pod.status ?? {};
    if (!how.over) probes.update(pod, observed, old.containerStatuses ?? []);
    entry.holdMilliseconds = holdOf(observed, clock.now());
    entry.status = computeStatus(pod, {
      now: clock.now(),
      runtimeName: options.runtimeName(),
      hostIps: context.node.hostIps(),
      observed,
      old,
      trouble: entry.memory.trouble,
      probes,
      isStatic: isOwnStatic(pod),
      ...how,
    });
    if (entry.status.phase === "Running") tally?.running(pod);
    return entry.status;
  }

  function publish(entry: PodEntry, pod: Pod, status: PodStatus, mayRun: boolean): void {
    const object = isOwnStatic(pod) ? options.mirrorOf(pod) : pod;
    if (!writer || !object || (entry.removed && !isOwnStatic(pod))) return;
    if (mayRun && entry.holdMilliseconds > 0) {
      clock.after(entry.holdMilliseconds, () => entry.worker.wake());
      return;
    }
    writer.write(object, publishable(status, writer.published(object), mayRun, clock.now()));
  }

  /** Milliseconds until the pod's own deadline. */
  function deadline(pod: Pod, status: PodStatus): number | undefined {
    const seconds = pod.spec.activeDeadlineSeconds;
    return seconds === undefined || !status.startTime
      ? undefined
      : millisOfTime(status.startTime) + Number(seconds) * 1000 - clock.now();
  }

  const isHere = (uid: string): boolean => {
    const at = entries.get(uid)?.worker.state().at;
    return at !== undefined && at !== "terminated";
  };

  /** Ends a pod for another's sake; gives its uid. */
  function preempt(pod: Pod, lacking: string): string {
    tally?.preempted(lacking);
    const message = "Preempted in order to admit critical pod";
    events.event(referenceTo(pod), "Warning", "Preempting", message);
    const agent = dialect.spelling.word("NodeAgent");
    const disruption = {
      reason: `TerminationBy${agent}`,
      message: `Pod was preempted by ${agent} to accommodate a critical pod.`,
    };
    entries
      .get(uidOf(pod))
      ?.worker.send({ type: "stop", reason: { kind: "ended", reason: "Preempting", message, disruption } });
    return uidOf(pod);
  }

  /** Runs a new pod, or tells reason not. */
  function admit(pod: Pod): void {
    const here = [...entries.values()].filter(({ worker: of }) => of.state().at !== "terminated");
    const others = here.filter(({ removed }) => !removed).map(podOf);
    // Whoever nobody wants any more takes no room from others; its ports are free once it has ended.
    const inTheWay = here
      .filter(({ removed }) => removed)
      .map(podOf)
      .filter((other) => portsCollide(pod, [other]));
    const known = cache.cached(uidOf(pod));
    const ran = known ? isRunningPod(known) : cache.has(uidOf(pod));
    // What ran before the agent restarted was admitted then, but may not stay under pressure.
    const admitted = ran
      ? (options.admission.stays?.(pod) ?? ({ ok: true } as const))
      : options.admission.admit(pod, others);
    if (admitted.ok) {
      const entry = add({ at: "syncing", pod }, false);
      // An earlier agent's volumes are taken over.
      if (ran) entry.refreshedAt = -Infinity;
      entry.awaits = [
        ...inTheWay.map(uidOf),
        ...(admitted.preempts ?? []).map((other) => preempt(other, admitted.lacking ?? "")),
      ];
      entry.worker.wake();
      return;
    }
    const { reason, message } = admitted;
    events.event(referenceTo(pod), "Warning", reason, message);
    if (ran) {
      const ending = { reason, message: `Pod was rejected: ${message}` };
      const graceSeconds = graceOf(pod);
      add(
        { at: "terminating", pod, graceSeconds, reason: { kind: "ended", ...ending } },
        false,
      ).worker.wake();
      return;
    }
    const entry = add({ at: "terminated", pod, reason: { kind: "ended", reason, message } }, false);
    entry.status = {
      phase: "Failed",
      reason,
      message: `Pod was rejected: ${message}`,
      startTime: pod.status?.startTime ?? timeOfMillis(clock.now()),
    };
    entry.worker.wake();
  }

  return {
    registry: registryOf({ entries, cache, podOf, mirrorOf: options.mirrorOf }),
    set: (pod) => {
      const entry = entries.get(uidOf(pod));
      if (entry) {
        const quiet = !matters(podOf(entry), pod);
        if (!quiet) entry.refreshedAt = -Infinity;
        if (!isOwnStatic(pod)) writer?.restore(pod);
        entry.worker.send({ type: "update", pod }, quiet);
      } else if (wasRejected(pod) && !cache.has(uidOf(pod))) {
        const { reason = "", message = "" } = pod.status;
        const known = add({ at: "terminated", pod, reason: { kind: "ended", reason, message } }, false);
        known.status = pod.status;
        known.worker.wake();
      } else if (isDeleted(pod) || isFinished(pod)) add(begin(pod), false).worker.wake();
      else admit(pod);
    },
    drop: (uid) => {
      const entry = entries.get(uid);
      if (!entry) return;
      entry.removed = true;
      if (entry.cleared) forget(entry);
      else if (entry.worker.state().at === "terminated") entry.worker.wake();
      else entry.worker.send({ type: "stop", reason: { kind: "removed" } });
    },
    seen: (observed, sourcesReady) => {
      const entry = entries.get(observed.uid);
      if (entry) {
        if (entry.worker.state().at !== "terminated") entry.worker.wake();
        return;
      }
      if (!sourcesReady || (observed.sandboxes.length === 0 && observed.containers.length === 0)) return;
      tally?.orphan();
      log.info("a pod runs that nobody asks for; it is ended", {
        pod: `${observed.namespace}/${observed.name}`,
        uid: observed.uid,
      });
      const pod = restoredPod(observed);
      add(
        {
          at: "terminating",
          pod,
          graceSeconds: Math.max(1, Number(pod.spec.terminationGracePeriodSeconds ?? 1)),
          reason: { kind: "removed" },
        },
        true,
      ).worker.wake();
    },
    wake: (uid) => entries.get(uid)?.worker.wake(),
    refresh: (uid) => {
      const entry = entries.get(uid);
      if (!entry) return;
      entry.refreshedAt = -Infinity;
      entry.worker.wake();
    },
    has: (uid) => entries.has(uid),
    all: () => [...entries.values()].map(podOf),
    working: () =>
      [...entries.values()].map((entry) => {
        const { at, pod } = entry.worker.state();
        // What was only found running has no source.
        const known = pod.metadata.annotations?.[dialect.names.annotations.configSource] !== undefined;
        return {
          lifecycle: at === "syncing" ? "sync" : at,
          config: !entry.removed ? "desired" : known ? "orphan" : "runtime_only",
          static: known ? (isOwnStatic(pod) ? "true" : "false") : "unknown",
        };
      }),
    evict: async (uid, { reason, message, graceSeconds, disruption }, signal) => {
      const entry = entries.get(uid);
      if (!entry) return;
      entry.worker.send({
        type: "stop",
        reason: { kind: "ended", reason, message, ...(disruption && { disruption }) },
        ...(graceSeconds !== undefined && { graceSeconds }),
      });
      while (!signal?.aborted && entries.get(uid) === entry && entry.worker.state().at !== "terminated")
        await clock.sleep(100, signal).catch(() => undefined);
    },
    close: async () => {
      await Promise.all([...entries.values()].map(({ worker: of }) => of.close()));
    },
  };
}

/**
 * A container that crashes again and again is not shown running each time: it must have run for a moment
 * after a restart.
 */
const restartedMilliseconds = 1000;
function holdOf({ containers }: ObservedPod, now: number): number {
  const young = containers
    .filter(({ state, runtimeLabels }) => state === "running" && runtimeLabels.restartCount > 0)
    .map(({ startedAt }) => restartedMilliseconds - (now - (startedAt ?? 0)));
  return Math.min(restartedMilliseconds, Math.max(0, ...young));
}

const isOver = ({ phase }: PodStatus): boolean => phase === "Succeeded" || phase === "Failed";
const endedBy = (reason: StopReason): { readonly ended?: Ending } =>
  reason.kind === "ended" ? { ended: reason } : {};
const isForTheNode = (reason: StopReason): boolean => reason.kind === "ended" && reason.final !== true;
/** Whether an earlier agent turned the pod away: nothing is to be said about containers that it never had. */
const wasRejected = (pod: Pod): boolean => isFinished(pod) && pod.status.containerStatuses === undefined;
/** Rejected pods never had containers to speak of. */
const isRejection = (entry: PodEntry, reason: StopReason): boolean =>
  reason.kind === "ended" && entry.status !== undefined && entry.status.containerStatuses === undefined;

/** Whether a newer version of a pod asks for anything; our own status coming back does not. */
function matters(old: Pod, pod: Pod): boolean {
  const wish = ({ metadata, spec, status }: Pod): string => {
    const { resourceVersion: _, managedFields: __, ...rest } = metadata;
    return JSON.stringify([
      rest,
      spec,
      isFinished({ status } as Pod),
      (status?.conditions ?? []).filter(
        ({ type }) => !["PodScheduled", "Ready", "Initialized", "ContainersReady"].includes(type),
      ),
    ]);
  };
  return wish(old) !== wish(pod);
}
