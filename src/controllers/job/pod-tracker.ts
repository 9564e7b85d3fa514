// Counts the finished pods of jobs, each of them once by means of a finalizer, and writes the jobs' status.
import type { JobCondition, JobStatus } from "#api";
import type { Clock } from "#base";
import type { EventRecorder } from "#client";
import type { Dialect } from "#dialect";
import type { SeenPod } from "../pods.ts";
import type { Backoff } from "./backoff.ts";
import { judgeFailure } from "./failure-policy.ts";
import type { IndexSet } from "./indexes.ts";
import type { JobMetrics } from "./job-metrics.ts";
import {
  type JobRules,
  type SeenJob,
  announcesEnd,
  failurePolicyOf,
  hasFailed,
  hasValidIndex,
  indexOf,
  isIndexed,
} from "./job-pods.ts";
import { countReleased, newCondition, uncountedOf, withCondition } from "./job-status.ts";

const maxUncountedPods = 500;

/** State of one sync; the job includes the writes made so far. */
export interface Sync {
  readonly key: string;
  job: SeenJob;
  readonly pods: readonly SeenPod[];
  readonly active: readonly SeenPod[];
  readonly satisfied: boolean;
  readonly succeededIndexes: IndexSet;
  /** Undefined unless the job limits the failures of its indexes. */
  readonly failedIndexes: IndexSet | undefined;
  /** Failed pods that keep their finalizer until they are replaced, by index. */
  readonly toReplace: ReadonlyMap<number, SeenPod>;
  /** Number of ready pods among the active ones, without those that the sync deleted. */
  ready: number;
  /** Number of pods that are being deleted, with those that the sync deleted. */
  terminating: number;
  /** Number of pods that failed so far. */
  readonly failed: number;
  status: JobStatus;
  backoff: Backoff;
}

export interface PodTracker {
  /** Reports whether the pod still has to be counted. */
  isTracked(key: string, pod: SeenPod): boolean;
  /** Counts pods and writes the status, with the condition that finishes the job, if any. */
  track(state: Sync, finished: JobCondition | undefined, flush: boolean): Promise<void>;
  /** The informer shows the pod without its finalizer. */
  releaseObserved(key: string, uid: string): void;
  forget(key: string): void;
}

export interface TrackerDeps {
  readonly rules: JobRules;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly metrics: JobMetrics;
  readonly hasFinalizer: (pod: SeenPod) => boolean;
  readonly removeFinalizer: (pod: SeenPod) => Promise<void>;
  readonly writeStatus: (job: SeenJob, status: JobStatus) => Promise<SeenJob>;
  readonly saveBackoff: (key: string, backoff: Backoff) => void;
}

export function podTracker(deps: TrackerDeps): PodTracker {
  const { rules, dialect, clock, events, metrics, hasFinalizer, removeFinalizer, writeStatus } = deps;
  /** Pods whose finalizer was removed, by job, until the informer observes it. */
  const released = new Map<string, Set<string>>();
  return {
    isTracked,
    track,
    releaseObserved: (key, uid) => void released.get(key)?.delete(uid),
    forget: (key) => void released.delete(key),
  };

  function isTracked(key: string, pod: SeenPod): boolean {
    return hasFinalizer(pod) && !released.get(key)?.has(pod.metadata.uid!);
  }

  /**
   * Counts finished pods exactly once: writes their uids to the status first, then removes their finalizers,
   * then turns the uids into counts.
   */
  async function track(state: Sync, given: JobCondition | undefined, flush: boolean): Promise<void> {
    const { job, key } = state;
    let needsFlush = flush;
    const tracked = state.pods.filter((pod) => isTracked(key, pod));
    const withFinalizer = new Set(tracked.map(({ metadata }) => metadata.uid!));
    let { status } = state;
    const counted = countReleased(status, withFinalizer);
    needsFlush ||= counted !== status;
    status = counted;
    const { uncounted, release, handled, indexes, isFull } = countPods(state, tracked, status, given);
    const before = status.uncountedTerminatedPods ?? {};
    needsFlush ||=
      uncounted.succeeded.length > (before.succeeded?.length ?? 0) ||
      uncounted.failed.length > (before.failed?.length ?? 0);
    status = { ...status, uncountedTerminatedPods: uncountedOf(uncounted) };
    if (isIndexed(job)) {
      const text = String(indexes);
      const failedText = state.failedIndexes?.toString();
      needsFlush ||=
        text !== (status.completedIndexes ?? "") || failedText !== (status.failedIndexes ?? undefined);
      // Fewer completions may drop indexes that were counted before.
      const { succeeded: _, completedIndexes: __, failedIndexes: ___, ...rest } = status;
      status = {
        ...rest,
        ...(indexes.size > 0 && { succeeded: indexes.size }),
        ...(text !== "" && { completedIndexes: text }),
        ...(failedText !== undefined && { failedIndexes: failedText }),
      };
    }
    const { finished, announced } = announcedEnd(status, given);
    if (announced) {
      status = { ...status, conditions: announced };
      needsFlush = true;
    }
    if (needsFlush) {
      state.job = await writeStatus(job, status);
      status = state.job.status;
      deps.saveBackoff(key, state.backoff);
      metrics.podsFinished(job.status, state.job);
    }
    for (const action of handled) metrics.failureHandled(action);
    if (release.length > 0) await releaseAll(key, release);
    const removed = new Set(release.map(({ metadata }) => metadata.uid!));
    const after = countReleased(status, new Set([...withFinalizer].filter((uid) => !removed.has(uid))));
    let flushAgain = after !== status;
    status = after;
    const uncountedLeft = status.uncountedTerminatedPods ?? {};
    const isCounted = (uncountedLeft.succeeded?.length ?? 0) + (uncountedLeft.failed?.length ?? 0) === 0;
    const awaitsPods = announcesEnd(rules) && state.terminating > 0;
    const isDone = finished !== undefined && !isFull && isCounted && !awaitsPods;
    if (isDone) {
      flushAgain = true;
      status = {
        ...status,
        conditions: withCondition(status.conditions, finished),
        ...(finished.type === "Complete" && { completionTime: finished.lastTransitionTime! }),
      };
    }
    if (!flushAgain) return;
    const { status: written } = state.job;
    state.job = await writeStatus(state.job, status);
    if (isDone) recordFinished(state.job, finished);
    metrics.podsFinished(written, state.job);
  }

  /** Determines which pods finished: what to add to the status, and which finalizers to remove then. */
  function countPods(
    { job, succeededIndexes, toReplace }: Sync,
    tracked: readonly SeenPod[],
    { uncountedTerminatedPods: before }: JobStatus,
    finished: JobCondition | undefined,
  ) {
    const uncounted = { succeeded: [...(before?.succeeded ?? [])], failed: [...(before?.failed ?? [])] };
    const release: SeenPod[] = [];
    /** Actions of the failure policy, one for each pod it applied to. */
    const handled: string[] = [];
    const indexes = succeededIndexes.copy();
    const kept = new Set([...toReplace.values()].map(({ metadata }) => metadata.uid));
    let isFull = false;
    for (const pod of tracked) {
      const uid = pod.metadata.uid!;
      const isSucceeded = pod.status.phase === "Succeeded";
      const isFailed = hasFailed(pod, job, rules);
      const isReleased = isSucceeded || (isFailed && !kept.has(uid));
      if (!isReleased && !finished && !job.metadata.deletionTimestamp) continue;
      release.push(pod);
      if (isSucceeded && !uncounted.failed.includes(uid)) {
        if (isIndexed(job)) {
          if (hasValidIndex(job, pod, dialect)) indexes.add(indexOf(pod, dialect));
        } else if (!uncounted.succeeded.includes(uid)) uncounted.succeeded.push(uid);
      } else if (
        (isFailed || (finished && finished.type !== "SuccessCriteriaMet")) &&
        !uncounted.failed.includes(uid) &&
        hasValidIndex(job, pod, dialect)
      ) {
        const { counts, action } = judgeFailure(failurePolicyOf(job, rules), pod, rules.failedIndexes);
        if (action !== undefined) handled.push(action);
        if (counts) uncounted.failed.push(uid);
      }
      isFull =
        indexes.size - succeededIndexes.size + uncounted.succeeded.length + uncounted.failed.length >=
        maxUncountedPods;
      if (isFull) break;
    }
    return { uncounted, release, handled, indexes, isFull };
  }

  /** Returns the final condition of an announced end, and the conditions with which to announce it. */
  function announcedEnd(
    { conditions }: JobStatus,
    given: JobCondition | undefined,
  ): { readonly finished: JobCondition | undefined; readonly announced?: JobCondition[] } {
    const finals: Readonly<Record<string, string>> = {
      FailureTarget: "Failed",
      SuccessCriteriaMet: "Complete",
    };
    const final = given && finals[given.type];
    if (!final) return { finished: given };
    const { type, reason = "", message = "" } = given;
    const isKnown = conditions?.some((each) => each.type === type && each.status === "True");
    return {
      finished: newCondition(final, reason, message, clock.now()),
      ...(!isKnown && { announced: withCondition(conditions, given) }),
    };
  }

  async function releaseAll(key: string, pods: readonly SeenPod[]): Promise<void> {
    const waiting = released.get(key) ?? new Set<string>();
    released.set(key, waiting);
    for (const { metadata } of pods) waiting.add(metadata.uid!);
    const results = await Promise.allSettled(
      pods.map(async (pod) => {
        try {
          await removeFinalizer(pod);
        } catch (error) {
          waiting.delete(pod.metadata.uid!);
          throw error;
        }
      }),
    );
    const failure = results.find((each) => each.status === "rejected")?.reason as Error | undefined;
    if (failure) throw failure;
  }

  function recordFinished(job: SeenJob, condition: JobCondition): void {
    const { type, reason, message } = condition;
    metrics.finished(job, condition);
    if (type !== "Complete") return events.event(job, "Warning", reason ?? "", message ?? "");
    const { completions } = job.spec;
    if (typeof completions === "number" && (job.status.succeeded ?? 0) > completions)
      events.event(
        job,
        "Warning",
        "TooManySucceededPods",
        "Too many succeeded pods running after completion count reached",
      );
    events.event(job, "Normal", "Completed", "Job completed");
  }
}
