// Job: runs pods to completion and counts each of them once by means of a finalizer.
import type { JobCondition, JobStatus } from "#api";
import { timeOfMillis } from "#base";
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  claim,
  controllerOf,
  expectations,
  ignoreReasons,
  isConflict,
  isNamespaceTerminating,
  queueFor,
  recorderFor,
  selects,
} from "#controllerkit";
import { ownedPods } from "../owned-pods.ts";
import { podControl, slowStart } from "../pod-control.ts";
import { type SeenPod, isActive, isFinished, isReady, keyOf, splitKey, timeOf } from "../pods.ts";
import { type Backoff, nextBackoff, noFailures, remainingMilliseconds } from "./backoff.ts";
import { judgeFailure } from "./failure-policy.ts";
import { countReleased, finishOf, newCondition, uncountedOf, withCondition } from "./job-status.ts";
import { formatIndexes, parseIndexes, pendingIndexes } from "./indexes.ts";
import { type Progress, type SyncAction, jobMetrics } from "./job-metrics.ts";
import {
  type SeenJob,
  endsByPhase,
  failurePolicyOf,
  hasFailed,
  indexOf,
  isIndexed,
  isJobFinished,
  isSuspended,
  newJobPod,
  podsToRemove,
} from "./job-pods.ts";

/** Delay in which pod changes are batched. */
const batchMilliseconds = 1000;
const maxPodsPerSync = 500;
const maxUncountedPods = 500;

type Requeue = { readonly requeueAfterMilliseconds: number } | void;

/** State of one sync; the job includes the writes made so far. */
interface Sync {
  readonly key: string;
  job: SeenJob;
  readonly pods: readonly SeenPod[];
  readonly active: readonly SeenPod[];
  readonly satisfied: boolean;
  readonly succeededIndexes: ReadonlySet<number>;
  status: JobStatus;
  backoff: Backoff;
}

export function jobController(context: ControllerContext): Controller {
  const { client, clock, view, dialect, gates } = context;
  const finalizer = dialect.names.finalizers.jobTracking;
  const rules = {
    failurePolicies: gates.enabled("JobPodFailurePolicy"),
    deletedPodsFail: gates.enabled("PodDisruptionConditions"),
  };
  const countsReady = gates.enabled("JobReadyPods");
  const events = recorderFor(context, "job-controller");
  const control = podControl(client, events);
  const metrics = jobMetrics(context.metrics, hasFinalizer);
  const jobClient = client.of(kinds.jobs);
  const podClient = client.of(kinds.pods);
  const expected = expectations(clock);
  const backoffs = new Map<string, Backoff>();
  /** Pods whose finalizer was removed, by job, until the informer observes it. */
  const released = new Map<string, Set<string>>();
  const queue = queueFor(context, "job", sync, {
    baseDelayMilliseconds: 10_000,
    maxDelayMilliseconds: 6 * 60_000,
  });
  const orphanQueue = queueFor(context, "job_orphan_pod", releaseOrphan);
  const jobs = view.follow(kinds.jobs, (event) => {
    const key = keyOf(event.object);
    queue.add(key);
    if (event.type !== "deleted") return;
    expected.forget(key);
    backoffs.delete(key);
    released.delete(key);
    for (const pod of pods.informer.controlledBy(event.object.metadata.uid!))
      if (hasFinalizer(pod)) orphanQueue.add(keyOf(pod));
  });
  const pods = ownedPods<SeenJob>(view, () => ({
    ownerKind: "Job",
    owners: jobs,
    matches: (job, { metadata }) => selects(job.spec.selector, metadata.labels),
    onCreated: (job) => expected.creationObserved(keyOf(job)),
    onDeleted: (job, pod) => expected.deletionObserved(keyOf(job), pod.metadata.uid!),
    onOwner: (job, { type, object: pod }) => {
      const key = keyOf(job);
      if (type === "deleted" || !hasFinalizer(pod)) released.get(key)?.delete(pod.metadata.uid!);
      if (isJobFinished(job) && hasFinalizer(pod)) orphanQueue.add(keyOf(pod));
      queue.addAfter(key, countsReady ? batchMilliseconds : 0);
    },
  }));
  view.follow(kinds.pods, (event) => {
    const { type, object } = event;
    metrics.podChanged(
      type === "updated" ? event.old : type === "deleted" ? object : undefined,
      type === "deleted" ? undefined : object,
    );
    if (type !== "deleted" && hasFinalizer(object) && !ownerOf(object)) orphanQueue.add(keyOf(object));
  });
  return { stopped: Promise.all([queue.stopped, orphanQueue.stopped]).then(() => undefined) };

  function hasFinalizer({ metadata }: SeenPod): boolean {
    return metadata.finalizers?.includes(finalizer) ?? false;
  }

  function ownerOf(pod: SeenPod): SeenJob | undefined {
    const reference = controllerOf(pod);
    if (reference?.kind !== "Job") return undefined;
    const job = jobs.get(pod.metadata.namespace, reference.name);
    return job?.metadata.uid === reference.uid ? job : undefined;
  }

  /** Removes the finalizer of a pod whose job is deleted or finished, since it will not be counted. */
  async function releaseOrphan(key: string): Promise<void> {
    const [namespace, name] = splitKey(key);
    const pod = pods.informer.get(namespace, name);
    if (!pod || !hasFinalizer(pod)) return;
    const job = ownerOf(pod);
    if (!job || isJobFinished(job)) await removeFinalizer(pod);
  }

  async function removeFinalizer({ metadata }: SeenPod): Promise<void> {
    const patch = { metadata: { uid: metadata.uid, "$deleteFromPrimitiveList/finalizers": [finalizer] } };
    const at = { namespace: metadata.namespace! };
    await ignoreReasons(["NotFound", "Conflict"], podClient.patch(metadata.name!, "strategic", patch, at));
  }

  async function sync(key: string): Promise<Requeue> {
    const [namespace, name] = splitKey(key);
    const job = jobs.get(namespace, name);
    if (!job) return;
    if (isJobFinished(job)) {
      backoffs.delete(key);
      return;
    }
    const startedAt = clock.now();
    const progress: Progress = { action: "reconciling", result: "error" };
    const satisfied = expected.satisfied(key);
    const mine = await claim(pods.candidates(job), {
      owner: job,
      matches: ({ metadata }) => selects(job.spec.selector, metadata.labels),
      resource: podClient,
      freshOwner: () => jobClient.get(name, { namespace }),
      finalizer,
    });
    try {
      const requeue = await reconcile(key, job, mine, { satisfied, progress });
      progress.result = "success";
      return requeue;
    } catch (error) {
      // The informer cache is stale: retry shortly.
      if (isConflict(error)) return { requeueAfterMilliseconds: 100 };
      throw error;
    } finally {
      metrics.synced(job, progress, (clock.now() - startedAt) / 1000);
    }
  }

  async function reconcile(
    key: string,
    job: SeenJob,
    mine: readonly SeenPod[],
    { satisfied, progress }: { readonly satisfied: boolean; readonly progress: Progress },
  ): Promise<Requeue> {
    const now = clock.now();
    const uncounted = job.status.uncountedTerminatedPods ?? {};
    const [oldSucceeded, oldFailed] = [uncounted.succeeded ?? [], uncounted.failed ?? []];
    const countable = mine.filter((pod) => isTracked(key, pod) && hasValidIndex(job, pod));
    const newSucceeded = countable.filter(
      ({ status, metadata }) => status.phase === "Succeeded" && !oldSucceeded.includes(metadata.uid!),
    );
    const newFailed = countable.filter(
      (pod) => hasFailed(pod, job, rules) && !oldFailed.includes(pod.metadata.uid!),
    );
    const { backoffLimit, completions } = job.spec;
    const policy = failurePolicyOf(job, rules);
    const counted = newFailed.filter((pod) => judgeFailure(policy, pod).counts);
    const failed = (job.status.failed ?? 0) + counted.length + oldFailed.length;
    const indexes = isIndexed(job)
      ? parseIndexes(job.status.completedIndexes, completions ?? 0)
      : new Set<number>();
    const allIndexes = new Set(indexes);
    for (const pod of mine)
      if (isIndexed(job) && pod.status.phase === "Succeeded" && hasValidIndex(job, pod) && hasFinalizer(pod))
        allIndexes.add(indexOf(pod, dialect));
    const succeeded = isIndexed(job)
      ? allIndexes.size
      : (job.status.succeeded ?? 0) + newSucceeded.length + oldSucceeded.length;
    const state: Sync = {
      key,
      job,
      pods: mine,
      active: mine.filter(isActive),
      satisfied,
      succeededIndexes: indexes,
      status: {
        ...job.status,
        ...(!job.status.startTime && !isSuspended(job) && { startTime: timeOfMillis(now) }),
      },
      backoff: nextBackoff(backoffs.get(key) ?? noFailures, newSucceeded, newFailed, now),
    };
    let finished = finishOf({ job, mine, rules }, state.status, (backoffLimit ?? 6) < failed, now);
    let active = state.active.length;
    let failure: Error | undefined;
    let requeueAfter: number | undefined;
    let suspendChanged = false;
    if (finished) {
      const results = await Promise.allSettled(state.active.map((pod) => control.delete(job, pod)));
      const error = results.find((each) => each.status === "rejected")?.reason as Error | undefined;
      active -= results.filter((each) => each.status === "fulfilled").length;
      if (active > 0 || !satisfied) finished = undefined;
      failure = error;
    } else {
      const isManaged = satisfied && !job.metadata.deletionTimestamp;
      if (isManaged)
        ({
          active,
          action: progress.action,
          failure,
          requeueAfter,
        } = await manage(state, succeeded, allIndexes));
      const isComplete =
        active === 0 &&
        (completions === null || completions === undefined ? succeeded > 0 : succeeded >= completions);
      if (isComplete && requeueAfter === undefined) finished = newCondition("Complete", "", "", now);
      else if (isManaged) suspendChanged = markSuspended(state);
      if (active < 0) active = 0;
    }
    const ready = countsReady ? state.active.filter(isReady).length : undefined;
    const needsFlush =
      suspendChanged || active !== (job.status.active ?? 0) || ready !== (job.status.ready ?? undefined);
    const { active: _, ready: __, ...rest } = state.status;
    state.status = { ...rest, ...(active > 0 && { active }), ...(ready !== undefined && { ready }) };
    await track(state, finished, needsFlush);
    if (failed > (job.status.failed ?? 0) && !isJobFinished(state.job))
      requeueAfter = Math.min(
        requeueAfter ?? Infinity,
        Math.max(batchMilliseconds, remainingMilliseconds(state.backoff, now)),
      );
    if (failure) throw failure;
    const deadline = deadlineIn(state.job);
    const next = Math.min(requeueAfter ?? Infinity, deadline ?? Infinity);
    if (next !== Infinity) return { requeueAfterMilliseconds: next };
  }

  function isTracked(key: string, pod: SeenPod): boolean {
    return hasFinalizer(pod) && !released.get(key)?.has(pod.metadata.uid!);
  }

  function hasValidIndex(job: SeenJob, pod: SeenPod): boolean {
    const index = indexOf(pod, dialect);
    return !isIndexed(job) || (index >= 0 && index < (job.spec.completions ?? 0));
  }

  function deadlineIn(job: SeenJob): number | undefined {
    const seconds = job.spec.activeDeadlineSeconds;
    if (seconds === null || seconds === undefined || isSuspended(job) || isJobFinished(job)) return undefined;
    return Math.max(0, timeOf(job.status.startTime) + seconds * 1000 - clock.now());
  }

  interface Managed {
    readonly active: number;
    readonly action: SyncAction;
    readonly failure: Error | undefined;
    readonly requeueAfter: number | undefined;
  }

  async function manage(state: Sync, succeeded: number, done: ReadonlySet<number>): Promise<Managed> {
    const { job, active } = state;
    const { completions, parallelism } = job.spec;
    if (isSuspended(job)) return await remove(state, podsToRemove(job, active, active.length, dialect));
    const limit = parallelism ?? 1;
    const wanted =
      completions === null || completions === undefined
        ? succeeded > 0
          ? active.length
          : limit
        : Math.max(0, Math.min(limit, completions - succeeded));
    const surplus = podsToRemove(job, active, Math.max(0, active.length - wanted), dialect);
    if (surplus.length > 0) return await remove(state, surplus.slice(0, maxPodsPerSync));
    if (active.length >= wanted)
      return { active: active.length, action: "tracking", failure: undefined, requeueAfter: undefined };
    const delay = remainingMilliseconds(state.backoff, clock.now());
    // Like the reference: until then the status reports no active pods, even if there are some.
    if (delay > 0) return { active: 0, action: "pods_created", failure: undefined, requeueAfter: delay };
    return await create(state, Math.min(maxPodsPerSync, wanted - active.length), done);
  }

  async function create(state: Sync, missing: number, done: ReadonlySet<number>): Promise<Managed> {
    const { job, key, active } = state;
    const taken = new Set(active.map((pod) => indexOf(pod, dialect)));
    const indexes = isIndexed(job)
      ? pendingIndexes(taken, done, missing, job.spec.completions ?? 0)
      : undefined;
    const count = indexes ? indexes.length : missing;
    expected.expectCreations(key, count);
    const { succeeded, error } = await slowStart(count, async (at) => {
      try {
        await control.create(job, newJobPod(job, indexes?.[at], dialect));
      } catch (failed) {
        if (!isNamespaceTerminating(failed)) throw failed;
        expected.creationObserved(key);
      }
    });
    for (let skipped = succeeded; skipped < count; skipped++) expected.creationObserved(key);
    return {
      active: active.length + succeeded,
      action: "pods_created",
      failure: error,
      requeueAfter: undefined,
    };
  }

  /** Pods deleted here do not count as failed. */
  async function remove({ job, key, active }: Sync, victims: readonly SeenPod[]): Promise<Managed> {
    expected.expectDeletions(
      key,
      victims.map(({ metadata }) => metadata.uid!),
    );
    const results = await Promise.allSettled(
      victims.map(async (pod) => {
        try {
          if (hasFinalizer(pod)) await removeFinalizer(pod);
          if (!(await control.delete(job, pod))) expected.deletionObserved(key, pod.metadata.uid!);
        } catch (error) {
          expected.deletionObserved(key, pod.metadata.uid!);
          throw error;
        }
      }),
    );
    const removed = results.filter((each) => each.status === "fulfilled").length;
    const failure = results.find((each) => each.status === "rejected")?.reason as Error | undefined;
    return { active: active.length - removed, action: "pods_deleted", failure, requeueAfter: undefined };
  }

  function markSuspended(state: Sync): boolean {
    const { job, status } = state;
    const now = clock.now();
    const [conditionStatus, reason, text, event] = isSuspended(job)
      ? ["True", "JobSuspended", "Job suspended", "Suspended"]
      : ["False", "JobResumed", "Job resumed", "Resumed"];
    const before = status.conditions?.find(({ type }) => type === "Suspended");
    if (before ? before.status === conditionStatus : conditionStatus === "False") return false;
    const condition = { ...newCondition("Suspended", reason, text, now), status: conditionStatus };
    state.status = { ...status, conditions: withCondition(status.conditions, condition) };
    if (conditionStatus === "False") state.status = { ...state.status, startTime: timeOfMillis(now) };
    events.event(job, "Normal", event, text);
    return true;
  }

  /**
   * Counts finished pods exactly once: writes their uids to the status first, then removes their finalizers,
   * then turns the uids into counts.
   */
  async function track(state: Sync, given: JobCondition | undefined, flush: boolean): Promise<void> {
    const { job, key, pods: mine } = state;
    const isByIndex = isIndexed(job);
    let finished = given;
    let needsFlush = flush;
    const tracked = mine.filter((pod) => isTracked(key, pod));
    const withFinalizer = new Set(tracked.map(({ metadata }) => metadata.uid!));
    let { status } = state;
    const released = countReleased(status, withFinalizer);
    needsFlush ||= released !== status;
    status = released;
    const uncounted = {
      succeeded: [...(status.uncountedTerminatedPods?.succeeded ?? [])],
      failed: [...(status.uncountedTerminatedPods?.failed ?? [])],
    };
    const release: SeenPod[] = [];
    /** Actions of the failure policy, one for each pod it applied to. */
    const handled: string[] = [];
    const indexes = new Set(state.succeededIndexes);
    let isFull = false;
    for (const pod of tracked) {
      const uid = pod.metadata.uid!;
      const { phase } = pod.status;
      const isTerminated = endsByPhase(job, rules)
        ? isFinished(pod) || finished !== undefined
        : Boolean(pod.metadata.deletionTimestamp) || finished !== undefined;
      if (isFinished(pod) || isTerminated || job.metadata.deletionTimestamp) release.push(pod);
      if (phase === "Succeeded" && !uncounted.failed.includes(uid)) {
        if (isByIndex) {
          if (hasValidIndex(job, pod)) indexes.add(indexOf(pod, dialect));
        } else if (!uncounted.succeeded.includes(uid)) uncounted.succeeded.push(uid);
      } else if ((phase === "Failed" || isTerminated) && !uncounted.failed.includes(uid))
        if (hasValidIndex(job, pod)) {
          const { counts, action } = judgeFailure(failurePolicyOf(job, rules), pod);
          if (action !== undefined) handled.push(action);
          if (counts) uncounted.failed.push(uid);
        }
      isFull =
        indexes.size - state.succeededIndexes.size + uncounted.succeeded.length + uncounted.failed.length >=
        maxUncountedPods;
      if (isFull) break;
    }
    const before = status.uncountedTerminatedPods ?? {};
    needsFlush ||=
      uncounted.succeeded.length > (before.succeeded?.length ?? 0) ||
      uncounted.failed.length > (before.failed?.length ?? 0);
    status = { ...status, uncountedTerminatedPods: uncountedOf(uncounted) };
    if (isByIndex) {
      const text = formatIndexes(indexes);
      needsFlush ||= text !== (status.completedIndexes ?? "");
      // Fewer completions may drop indexes that were counted before.
      const { succeeded: _, completedIndexes: __, ...rest } = status;
      status = {
        ...rest,
        ...(indexes.size > 0 && { succeeded: indexes.size }),
        ...(text !== "" && { completedIndexes: text }),
      };
    }
    if (finished?.type === "FailureTarget") {
      status = { ...status, conditions: withCondition(status.conditions, finished) };
      finished = newCondition("Failed", finished.reason ?? "", finished.message ?? "", clock.now());
      needsFlush = true;
    }
    if (needsFlush) {
      state.job = await jobClient.update({ ...job, status }, { subresource: "status" });
      status = state.job.status;
      backoffs.set(key, state.backoff);
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
    const isDone = finished !== undefined && !isFull && isCounted;
    if (isDone) {
      flushAgain = true;
      status = {
        ...status,
        conditions: withCondition(status.conditions, finished!),
        ...(finished!.type === "Complete" && { completionTime: finished!.lastTransitionTime! }),
      };
    }
    if (!flushAgain) return;
    const { status: written } = state.job;
    state.job = await jobClient.update({ ...state.job, status }, { subresource: "status" });
    if (isDone) recordFinished(state.job, finished!);
    metrics.podsFinished(written, state.job);
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
