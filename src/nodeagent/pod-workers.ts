// The pods of this node, one worker each, driven by updates from the sources and by the state of the runtime.
// The driver performs what next() and plan() decide; the actions are in worker/.
import type { Pod } from "#api";
import type { ObservedPod } from "./containers/observed.ts";
import { restoredPod } from "./containers/restored-pod.ts";
import { isDeleted, isFinished, isStatic, referenceTo, uidOf } from "./pod.ts";
import { registryOf } from "./registry.ts";
import type { PodEvictor, PodRegistry, WorkingPod } from "./interfaces.ts";
import { newPodMemory } from "./sync/context.ts";
import { type Admission, admitPod, rejectedBefore } from "./worker/admission.ts";
import { type PodEntry, type PodWorkersOptions, isCleared, isOrphaned, podOf } from "./worker/entry.ts";
import { killTimeoutSeconds } from "./worker/kill-timeout.ts";
import { podStatuses } from "./worker/pod-status.ts";
import { type WorkerState, initialState, graceOf } from "./worker/state.ts";
import { syncAction } from "./worker/sync-action.ts";
import { termination } from "./worker/termination.ts";
import { type ActionResult, worker } from "./worker/worker.ts";

export type { PodWorkersOptions } from "./worker/entry.ts";

export interface PodWorkers extends PodEvictor {
  readonly registry: PodRegistry;
  /** Adds or updates a pod that should run on this node. */
  set(pod: Pod): void;
  /** Terminates a pod that should no longer run on this node. */
  drop(uid: string): void;
  /**
   * Handles a change in the runtime's state of a pod. Orphaned pods are killed once all sources are ready.
   */
  seen(observed: ObservedPod, sourcesReady: boolean): void;
  wake(uid: string): void;
  /** Syncs a pod because an object that it refers to changed, which updates its volumes. */
  refresh(uid: string): void;
  has(uid: string): boolean;
  pods(): readonly Pod[];
  working(): readonly WorkingPod[];
  close(): Promise<void>;
}

const evictionPollMilliseconds = 100;
const graceExceeded = [
  "ExceededGracePeriod",
  "Container runtime did not kill the pod within specified grace period.",
] as const;

export function podWorkers(options: PodWorkersOptions): PodWorkers {
  const { context, writer, podMetrics } = options;
  const { clock, log, cache, dialect } = context;
  const entries = new Map<string, PodEntry>();
  const statuses = podStatuses(options);
  const end = termination(options, statuses);
  const traced = options.traced ?? ((_, run) => run());

  function add({ state, status, ran }: Admission): void {
    const entry: PodEntry = {
      worker: worker(state, { clock, log, act: (current, signal) => timedAct(entry, current, signal) }),
      memory: newPodMemory(),
      status,
      outcome: "none yet",
      refreshedAt: ran ? -Infinity : clock.monotonic(),
      holdMilliseconds: 0,
    };
    entries.set(uidOf(state.pod), entry);
    podMetrics?.added(state.pod);
    entry.worker.wake();
  }

  async function timedAct(entry: PodEntry, state: WorkerState, signal: AbortSignal): Promise<ActionResult> {
    const done = podMetrics?.acting(uidOf(state.pod), state.at);
    try {
      return await act(entry, state, signal);
    } finally {
      done?.();
    }
  }

  async function act(entry: PodEntry, state: WorkerState, signal: AbortSignal): Promise<ActionResult> {
    switch (state.at) {
      case "syncing":
        return await traced(state.pod, () =>
          syncAction(options, statuses, { entry, state, entries }, signal),
        );
      case "terminating":
        return await end.terminate(entry, state, signal);
      case "terminated":
        if (await end.clear(entry, state, signal)) forget(entry);
        return {};
    }
  }

  function forget(entry: PodEntry): void {
    const state = entry.worker.state();
    entries.delete(uidOf(state.pod));
    writer?.forget(uidOf(state.pod));
    podMetrics?.forgotten(uidOf(state.pod));
    void entry.worker.close();
    options.onRemoved?.(state.pod);
    if (state.at === "syncing" || !state.restartWith) return;
    podMetrics?.restarted(state.restartWith);
    set(state.restartWith);
  }

  function set(pod: Pod): void {
    const entry = entries.get(uidOf(pod));
    if (!entry) {
      const before = cache.has(uidOf(pod)) ? undefined : rejectedBefore(pod);
      const isEnding = isDeleted(pod) || isFinished(pod);
      add(before ?? (isEnding ? { state: initialState(pod) } : admitPod(options, entries, pod)));
      return;
    }
    const quiet = !requiresSync(podOf(entry), pod);
    if (!quiet) entry.refreshedAt = -Infinity;
    if (!isStatic(pod, dialect)) writer?.restore(pod);
    entry.worker.send({ type: "update", pod }, quiet);
  }

  return {
    registry: registryOf({ entries, cache, mirrorOf: options.mirrorOf }),
    set,
    drop: (uid) => {
      const entry = entries.get(uid);
      if (!entry) return;
      entry.worker.send({ type: "removed" });
      if (isCleared(entry)) forget(entry);
    },
    seen: (observed, sourcesReady) => {
      const entry = entries.get(observed.uid);
      if (entry) {
        if (entry.worker.state().at !== "terminated") entry.worker.wake();
        return;
      }
      if (!sourcesReady || (observed.sandboxes.length === 0 && observed.containers.length === 0)) return;
      podMetrics?.orphan();
      log.info("killing orphaned pod", {
        pod: `${observed.namespace}/${observed.name}`,
        uid: observed.uid,
      });
      const pod = restoredPod(observed);
      const graceSeconds = Math.max(1, Number(pod.spec.terminationGracePeriodSeconds ?? 1));
      add({
        state: { at: "terminating", pod, graceSeconds, reason: { kind: "removed" }, orphaned: true },
      });
    },
    wake: (uid) => entries.get(uid)?.worker.wake(),
    refresh: (uid) => {
      const entry = entries.get(uid);
      if (!entry) return;
      entry.refreshedAt = -Infinity;
      entry.worker.wake();
    },
    has: (uid) => entries.has(uid),
    pods: () => [...entries.values()].map(podOf),
    working: () =>
      [...entries.values()].map((entry) => {
        const { at, pod } = entry.worker.state();
        // A pod that was only found running has no source.
        const hasSource = pod.metadata.annotations?.[dialect.names.annotations.configSource] !== undefined;
        return {
          lifecycle: at === "syncing" ? "sync" : at,
          config: !isOrphaned(entry) ? "desired" : hasSource ? "orphan" : "runtime_only",
          static: hasSource ? (isStatic(pod, dialect) ? "true" : "false") : "unknown",
        };
      }),
    evict: async (uid, { reason, message, graceSeconds, disruption }, signal) => {
      const entry = entries.get(uid);
      if (!entry) return;
      const isRemaining = (): boolean =>
        entries.get(uid) === entry && entry.worker.state().at !== "terminated";
      entry.worker.send({
        type: "stop",
        reason: { kind: "ended", reason, message, ...(disruption && { disruption }) },
        ...(graceSeconds !== undefined && { graceSeconds }),
      });
      const timeoutSeconds = killTimeoutSeconds(graceSeconds ?? graceOf(podOf(entry)));
      const cancel = clock.after(timeoutSeconds * 1000, () => {
        if (isRemaining()) context.events.event(referenceTo(podOf(entry)), "Warning", ...graceExceeded);
      });
      while (!signal?.aborted && isRemaining())
        await clock.sleep(evictionPollMilliseconds, signal).catch(() => undefined);
      if (!isRemaining()) cancel();
    },
    close: async () => {
      await Promise.all([...entries.values()].map(({ worker: of }) => of.close()));
    },
  };
}

/** Reports whether an update of a pod requires a sync. The agent's own status update does not. */
function requiresSync(old: Pod, pod: Pod): boolean {
  const relevantFields = ({ metadata, spec, status }: Pod): string => {
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
  return relevantFields(old) !== relevantFields(pod);
}
