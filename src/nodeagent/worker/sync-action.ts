// The action of a pod that should run: observes it, publishes its status, and reconciles it with its spec.
import type { Pod, PodStatus } from "#api";
import { GrpcError } from "#http";
import { grpcErrorText } from "../errors.ts";
import { isStatic, keyOf, referenceTo } from "../pod.ts";
import { blockedStatus } from "../status/compute.ts";
import { type SyncOutcome, hasStartable, syncPod } from "../sync/sync-pod.ts";
import {
  type PodEntries,
  type PodEntry,
  type PodWorkersOptions,
  isCleared,
  isOrphaned,
  podName,
  podOf,
} from "./entry.ts";
import { rejectedStatus } from "./admission.ts";
import { type PodStatuses, pastDeadline } from "./pod-status.ts";
import type { Syncing } from "./state.ts";
import type { ActionResult } from "./worker.ts";

/**
 * Resyncs are jittered between this fraction of the period and the whole period, so that pods do not sync at
 * once.
 */
const minResyncFraction = 0.9;
const waitMilliseconds = 250;
/** How often a resize deferred for lack of capacity is retried. */
const deferredMilliseconds = 5000;

export async function syncAction(
  { context, admission, syncMilliseconds }: PodWorkersOptions,
  statuses: PodStatuses,
  {
    entry,
    state,
    entries,
  }: { readonly entry: PodEntry; readonly state: Syncing; readonly entries: PodEntries },
  signal: AbortSignal,
): Promise<ActionResult> {
  const { clock, cache, events } = context;
  const { pod } = state;
  if (mustWait(state, entry, entries)) return { againMilliseconds: waitMilliseconds };
  const confirmed = (await admission.confirm?.(pod, signal)) ?? { ok: true as const };
  if (!confirmed.ok) {
    const { reason, message } = confirmed;
    events.event(referenceTo(pod), "Warning", reason, message);
    statuses.publish(entry, pod, (entry.status = rejectedStatus(pod, confirmed, clock.now())), true);
    return { next: { type: "rejected", reason, message } };
  }
  // The cache is refreshed when a restarted container is on hold, since it may have exited by now, and when
  // the result of the last action is unknown.
  const mustRefresh = entry.holdMilliseconds > 0 || entry.outcome === "unknown";
  let observed = await (mustRefresh ? cache.refresh : cache.fresh)(podName(pod), signal).catch(
    (error: unknown): never => {
      // Nothing is known while the runtime is away: the node is not ready, and its pods have no failure of their own.
      const isAway = error instanceof GrpcError && error.code === "UNAVAILABLE";
      if (!signal.aborted && !isAway) {
        const message = `error determining status: ${grpcErrorText(error)}`;
        events.event(referenceTo(pod), "Warning", "FailedSync", message);
      }
      throw error;
    },
  );
  let status = statuses.update(entry, pod, observed, { over: false });
  const untilDeadline = statuses.deadline(pod, status);
  if (untilDeadline !== undefined && untilDeadline <= 0) {
    events.event(referenceTo(pod), "Normal", pastDeadline.reason, pastDeadline.message);
    return { next: { type: "stop", reason: { kind: "ended", ...pastDeadline } } };
  }
  const blocked = pod.status?.phase === "Pending" ? admission.blocks?.(pod) : undefined;
  if (blocked) {
    statuses.publish(entry, pod, (entry.status = blockedStatus(status, blocked)), true);
    return { againMilliseconds: syncMilliseconds };
  }
  statuses.publish(entry, pod, status, true);
  if (hasFinished(status)) return { next: { type: "stop", reason: { kind: "finished" } } };
  const isDeferred = await decideResize();
  let outcome: SyncOutcome = { acted: true };
  entry.outcome = "unknown";
  try {
    outcome = await syncPod(context, pod, observed, entry.memory, signal);
    if (!outcome.acted && clock.monotonic() - entry.refreshedAt >= syncMilliseconds * minResyncFraction) {
      entry.refreshedAt = clock.monotonic();
      context.objects.watch(pod);
      await context.volumes.refresh(pod);
    }
    const waits = [
      outcome.againMilliseconds,
      untilDeadline,
      isDeferred ? deferredMilliseconds : undefined,
      syncMilliseconds * (minResyncFraction + Math.random() * (1 - minResyncFraction)),
    ].filter((wait) => wait !== undefined);
    return { againMilliseconds: Math.max(0, Math.min(...waits)) };
  } finally {
    if (!signal.aborted) {
      const { acted, simple, started = [] } = outcome;
      const refreshed = !acted
        ? observed
        : simple
          ? cache.refreshParts(podName(pod), { containers: started }, signal)
          : cache.refresh(podName(pod), signal);
      observed = await Promise.resolve(refreshed).then(
        (found) => {
          entry.outcome = "known";
          return found;
        },
        () => observed,
      );
      status = statuses.update(entry, pod, observed, { over: false });
      statuses.publish(entry, pod, status, true);
      // No later event reports the change observed here, so the worker wakes itself.
      if (hasFinished(status) || hasStartable(context, pod, observed, outcome, entry.memory))
        entry.worker.wake();
    }
  }

  /** Decides about a requested resize; reports whether the decision must be retried. */
  async function decideResize(): Promise<boolean> {
    if (!context.resize) return false;
    const others = [...entries.values()]
      .filter((other) => other !== entry && isHere(other) && !isOrphaned(other))
      .map(podOf);
    const mustRetry = await context.resize.decide(pod, status, others);
    status = statuses.update(entry, pod, observed, { over: false });
    statuses.publish(entry, pod, status, true);
    return mustRetry;
  }

  function mustWait({ awaits }: Syncing, own: PodEntry, all: PodEntries): boolean {
    if (awaits?.some((uid) => isHere(all.get(uid)))) return true;
    if (!isStatic(pod, context.dialect)) return false;
    // An edited static pod is a new pod with the same name: the old pod must be cleared first. Of two manifests with
    // the same name, the one that was found first runs.
    let isEarlier = true;
    for (const other of all.values()) {
      if (other === own) isEarlier = false;
      else if (precedes(other, pod, isEarlier)) return true;
    }
    return false;
  }
}

const precedes = (other: PodEntry, pod: Pod, isEarlier: boolean): boolean =>
  keyOf(podOf(other)) === keyOf(pod) &&
  !isCleared(other) &&
  (isEarlier || other.worker.state().at !== "syncing");

const isHere = (entry: PodEntry | undefined): boolean =>
  entry !== undefined && entry.worker.state().at !== "terminated";

const hasFinished = ({ phase }: PodStatus): boolean => phase === "Succeeded" || phase === "Failed";
