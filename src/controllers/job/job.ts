// Job: runs pods to completion and counts each of them once by means of a finalizer.
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
import { type SeenPod, isActive, isReady, keyOf, splitKey, timeOf } from "../pods.ts";
import { type Backoff, nextBackoff, noFailures, remainingMilliseconds } from "./backoff.ts";
import { judgeFailure } from "./failure-policy.ts";
import {
  failedIndexesOf,
  failureAnnotations,
  limitsIndexes,
  podsToReplace,
  readyIndexes,
} from "./index-failures.ts";
import { IndexSet } from "./indexes.ts";
import { type Progress, type SyncAction, jobMetrics } from "./job-metrics.ts";
import {
  type JobRules,
  type PodIndex,
  type SeenJob,
  announcesEnd,
  failurePolicyOf,
  hasFailed,
  hasValidIndex,
  indexOf,
  isIndexed,
  isJobFinished,
  isManagedElsewhere,
  isSuspended,
  isTerminating,
  newJobPod,
  podsToRemove,
  replacesFailedOnly,
} from "./job-pods.ts";
import { completion, finishOf, finishOfIndexes, newCondition, withCondition } from "./job-status.ts";
import { type Sync, podTracker } from "./pod-tracker.ts";

/** Delay in which pod changes are batched. */
const batchMilliseconds = 1000;
const maxPodsPerSync = 500;

type Requeue = { readonly requeueAfterMilliseconds: number } | void;

export function jobController(context: ControllerContext): Controller {
  const { client, clock, view, dialect, gates } = context;
  const finalizer = dialect.names.finalizers.jobTracking;
  const rules: JobRules = {
    failurePolicies: gates.enabled("JobPodFailurePolicy"),
    deletedPodsFail: gates.enabled("PodDisruptionConditions"),
    failedIndexes: gates.enabled("JobBackoffLimitPerIndex"),
    replacementPolicies: gates.enabled("JobPodReplacementPolicy"),
    successPolicies: gates.enabled("JobSuccessPolicy"),
    otherManagers: gates.enabled("JobManagedBy"),
    indexLabels: gates.enabled("PodIndexLabel"),
  };
  const countsReady = gates.enabled("JobReadyPods");
  const events = recorderFor(context, "job-controller");
  const control = podControl(client, events);
  const metrics = jobMetrics(context.metrics, rules, hasFinalizer);
  const jobClient = client.of(kinds.jobs);
  const podClient = client.of(kinds.pods);
  const expected = expectations(clock);
  const backoffs = new Map<string, Backoff>();
  const tracker = podTracker({
    rules,
    dialect,
    clock,
    events,
    metrics,
    hasFinalizer,
    removeFinalizer,
    writeStatus: (job, status) => jobClient.update({ ...job, status }, { subresource: "status" }),
    saveBackoff: (key, backoff) => void backoffs.set(key, backoff),
  });
  const queue = queueFor(context, "job", sync, {
    baseDelayMilliseconds: 10_000,
    maxDelayMilliseconds: 6 * 60_000,
  });
  const orphanQueue = queueFor(context, "job_orphan_pod", releaseOrphan);
  const jobs = view.follow(kinds.jobs, (event) => {
    const key = keyOf(event.object);
    queue.add(key);
    if (event.type === "added" && isManagedElsewhere(event.object, rules, dialect))
      metrics.managedElsewhere(event.object.spec.managedBy!);
    if (event.type !== "deleted") return;
    expected.forget(key);
    backoffs.delete(key);
    tracker.forget(key);
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
      if (type === "deleted" || !hasFinalizer(pod)) tracker.releaseObserved(key, pod.metadata.uid!);
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
    if (!job || (isJobFinished(job) && !isManagedElsewhere(job, rules, dialect))) await removeFinalizer(pod);
  }

  async function removeFinalizer({ metadata }: SeenPod): Promise<void> {
    const patch = { metadata: { uid: metadata.uid, "$deleteFromPrimitiveList/finalizers": [finalizer] } };
    const at = { namespace: metadata.namespace! };
    await ignoreReasons(["NotFound", "Conflict"], podClient.patch(metadata.name!, "strategic", patch, at));
  }

  async function sync(key: string): Promise<Requeue> {
    const [namespace, name] = splitKey(key);
    const job = jobs.get(namespace, name);
    if (!job || isManagedElsewhere(job, rules, dialect)) return;
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
    const countable = mine.filter((pod) => tracker.isTracked(key, pod) && hasValidIndex(job, pod, dialect));
    const newSucceeded = countable.filter(
      ({ status, metadata }) => status.phase === "Succeeded" && !oldSucceeded.includes(metadata.uid!),
    );
    const newFailed = countable.filter(
      (pod) => hasFailed(pod, job, rules) && !oldFailed.includes(pod.metadata.uid!),
    );
    const { backoffLimit, completions } = job.spec;
    const policy = failurePolicyOf(job, rules);
    const counted = newFailed.filter((pod) => judgeFailure(policy, pod, rules.failedIndexes).counts);
    const failed = (job.status.failed ?? 0) + counted.length + oldFailed.length;
    const indexes = isIndexed(job)
      ? IndexSet.parse(job.status.completedIndexes, completions ?? 0)
      : new IndexSet();
    const allIndexes = indexes.copy();
    for (const pod of mine)
      if (
        isIndexed(job) &&
        pod.status.phase === "Succeeded" &&
        hasValidIndex(job, pod, dialect) &&
        hasFinalizer(pod)
      )
        allIndexes.add(indexOf(pod, dialect));
    const succeeded = isIndexed(job)
      ? allIndexes.size
      : (job.status.succeeded ?? 0) + newSucceeded.length + oldSucceeded.length;
    const active = mine.filter(isActive);
    const activeIndexes = new Set(active.map((pod) => indexOf(pod, dialect)));
    const failedIndexes = limitsIndexes(job, rules)
      ? failedIndexesOf(job, mine.filter(hasFinalizer), rules, dialect)
      : undefined;
    const state: Sync = {
      key,
      job,
      pods: mine,
      active,
      satisfied,
      succeededIndexes: indexes,
      failedIndexes,
      toReplace: failedIndexes
        ? podsToReplace(
            countable.filter((pod) => hasFailed(pod, job, rules)),
            (index) => allIndexes.has(index) || failedIndexes.has(index) || activeIndexes.has(index),
            dialect,
          )
        : new Map(),
      ready: active.filter(isReady).length,
      terminating: mine.filter(isTerminating).length,
      failed,
      status: {
        ...job.status,
        ...(!job.status.startTime && !isSuspended(job) && { startTime: timeOfMillis(now) }),
      },
      backoff: nextBackoff(backoffs.get(key) ?? noFailures, newSucceeded, newFailed, now),
    };
    let finished =
      finishOf({ job, mine, rules }, state.status, (backoffLimit ?? 6) < failed, now) ??
      (isIndexed(job)
        ? finishOfIndexes(job, rules, { succeeded: allIndexes, failed: failedIndexes }, now)
        : undefined);
    let activeCount = active.length;
    let failure: Error | undefined;
    let requeueAfter: number | undefined;
    let suspendChanged = false;
    if (finished) {
      const results = await Promise.allSettled(active.map((pod) => control.delete(job, pod)));
      failure = results.find((each) => each.status === "rejected")?.reason as Error | undefined;
      activeCount -= countDeleted(state, active, results);
      if (activeCount > 0 || !satisfied) finished = undefined;
    } else {
      const isManaged = satisfied && !job.metadata.deletionTimestamp;
      if (isManaged)
        ({
          active: activeCount,
          action: progress.action,
          failure,
          requeueAfter,
        } = await manage(state, succeeded, allIndexes));
      const isComplete =
        activeCount === 0 &&
        (completions === null || completions === undefined ? succeeded > 0 : succeeded >= completions);
      if (isComplete && requeueAfter === undefined) finished = completion(rules, now);
      else if (isManaged) suspendChanged = markSuspended(state);
      if (activeCount < 0) activeCount = 0;
    }
    const ready = countsReady ? state.ready : undefined;
    const terminating = rules.replacementPolicies ? state.terminating : undefined;
    const needsFlush =
      suspendChanged ||
      activeCount !== (job.status.active ?? 0) ||
      ready !== (job.status.ready ?? undefined) ||
      terminating !== (job.status.terminating ?? undefined);
    const { active: _, ready: __, terminating: ___, ...rest } = state.status;
    state.status = {
      ...rest,
      ...(activeCount > 0 && { active: activeCount }),
      ...(ready !== undefined && { ready }),
      ...(terminating !== undefined && { terminating }),
    };
    await tracker.track(state, finished, needsFlush);
    if (failed > (job.status.failed ?? 0) && !failedIndexes && !isJobFinished(state.job))
      requeueAfter = Math.min(
        requeueAfter ?? Infinity,
        Math.max(batchMilliseconds, remainingMilliseconds(state.backoff, now)),
      );
    if (failure) throw failure;
    const deadline = deadlineIn(state.job);
    const next = Math.min(requeueAfter ?? Infinity, deadline ?? Infinity);
    if (next !== Infinity) return { requeueAfterMilliseconds: next };
  }

  /** Counts pods that the sync has deleted. The ready count of 1.27 includes them. */
  function countDeleted(
    state: Sync,
    pods: readonly SeenPod[],
    results: readonly PromiseSettledResult<unknown>[],
  ): number {
    const deleted = pods.filter((_, at) => results[at]!.status === "fulfilled");
    state.terminating += deleted.length;
    if (announcesEnd(rules)) state.ready -= deleted.filter(isReady).length;
    return deleted.length;
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

  async function manage(state: Sync, succeeded: number, done: IndexSet): Promise<Managed> {
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
    const missing = wanted - active.length - (replacesFailedOnly(job, rules) ? state.terminating : 0);
    if (missing <= 0)
      return { active: active.length, action: "tracking", failure: undefined, requeueAfter: undefined };
    const delay = state.failedIndexes ? 0 : remainingMilliseconds(state.backoff, clock.now());
    if (delay > 0) return waiting(state, delay);
    return await create(state, Math.min(maxPodsPerSync, missing), done);
  }

  /** Until the delay has passed, the status of 1.27 reports no active pods, even if there are some. */
  function waiting({ active }: Sync, requeueAfter: number): Managed {
    const reported = announcesEnd(rules) ? active.length : 0;
    return { active: reported, action: "pods_created", failure: undefined, requeueAfter };
  }

  async function create(state: Sync, missing: number, done: IndexSet): Promise<Managed> {
    const { job, key, active } = state;
    const holding = replacesFailedOnly(job, rules)
      ? state.pods.filter((pod) => isActive(pod) || isTerminating(pod))
      : active;
    const taken = new Set(holding.map((pod) => indexOf(pod, dialect)));
    const ended = state.failedIndexes ? done.union(state.failedIndexes) : done;
    const pending = isIndexed(job) ? ended.missing(job.spec.completions ?? 0, missing, taken) : undefined;
    const { indexes, delay } =
      pending && state.failedIndexes
        ? readyIndexes(pending, state.toReplace, clock.now(), dialect)
        : { indexes: pending, delay: 0 };
    if (delay > 0) return waiting(state, delay);
    const count = indexes ? indexes.length : missing;
    expected.expectCreations(key, count);
    let refused = 0;
    const { succeeded, error } = await slowStart(count, async (at) => {
      try {
        await control.create(job, newJobPod(job, indexes && podIndex(state, indexes[at]!), dialect));
      } catch (failed) {
        if (!isNamespaceTerminating(failed)) {
          refused++;
          throw failed;
        }
        expected.creationObserved(key);
      }
    });
    for (let skipped = succeeded; skipped < count; skipped++) expected.creationObserved(key);
    metrics.podsCreated(
      {
        failedOnly: job.spec.podReplacementPolicy === "Failed",
        failed: state.failed,
        terminating: state.terminating,
      },
      succeeded,
      refused,
    );
    return {
      active: active.length + succeeded,
      action: "pods_created",
      failure: error,
      requeueAfter: undefined,
    };
  }

  function podIndex({ job, failedIndexes, toReplace }: Sync, index: number): PodIndex {
    return {
      index,
      labelled: rules.indexLabels,
      ...(failedIndexes && {
        annotations: failureAnnotations(job, toReplace.get(index), rules, dialect),
      }),
    };
  }

  /** Pods deleted here do not count as failed. */
  async function remove(state: Sync, victims: readonly SeenPod[]): Promise<Managed> {
    const { job, key, active } = state;
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
    const removed = countDeleted(state, victims, results);
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
}
