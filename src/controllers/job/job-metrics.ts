// Metrics of the job controller, under their upstream names.
import type { JobCondition, JobStatus } from "#api";
import { type Metrics, exponentialBuckets } from "#base";
import { type SeenPod, isFinished } from "../pods.ts";
import { IndexSet } from "./indexes.ts";
import { type JobRules, type SeenJob, isIndexed } from "./job-pods.ts";

/** What a sync did about the pods of its job. */
export type SyncAction = "reconciling" | "tracking" | "pods_created" | "pods_deleted";

/** How far a sync got. */
export interface Progress {
  action: SyncAction;
  result: "success" | "error";
}

export interface JobMetrics {
  synced(job: SeenJob, progress: Progress, seconds: number): void;
  finished(job: SeenJob, condition: JobCondition): void;
  /** Counts the pods that a status write counted. */
  podsFinished(before: JobStatus, job: SeenJob): void;
  /** Counts the pods that a sync created, and those that it could not create. */
  podsCreated(state: CreationState, succeeded: number, failed: number): void;
  /** Counts a job that another controller manages. */
  managedElsewhere(controller: string): void;
  /** Counts a failed pod that a rule of the failure policy applied to. */
  failureHandled(action: string): void;
  /** Observes a change of a pod; either is undefined if the pod did not or does not exist. */
  podChanged(before: SeenPod | undefined, after: SeenPod | undefined): void;
}

/** The state of a job whose pods are created, which gives the reason. */
export interface CreationState {
  /** Whether pods are replaced only once they have failed. */
  readonly failedOnly: boolean;
  readonly failed: number;
  readonly terminating: number;
}

/** Jobs name their controllers, so the number of series is limited. */
const maxManagers = 1000;

const modeOf = ({ spec }: SeenJob): string => spec.completionMode ?? "NonIndexed";

/** Metrics of features of later releases exist only where these are on. */
export function jobMetrics(
  metrics: Metrics,
  rules: Pick<JobRules, "failedIndexes" | "replacementPolicies" | "otherManagers">,
  hasFinalizer: (pod: SeenPod) => boolean,
): JobMetrics {
  const ofSync = {
    labels: ["completion_mode", "result", "action"],
    stability: "STABLE",
  } as const;
  const duration = metrics.histogram({
    ...ofSync,
    name: "job_controller_job_sync_duration_seconds",
    help: "Time in seconds that a sync of a job takes.",
    buckets: exponentialBuckets(0.004, 2, 15),
  });
  const syncs = metrics.counter({
    ...ofSync,
    name: "job_controller_job_syncs_total",
    help: "Number of syncs of jobs.",
  });
  const finished = metrics.counter({
    name: "job_controller_jobs_finished_total",
    help: "Number of finished jobs.",
    labels: ["completion_mode", "result", "reason"],
    stability: "STABLE",
  });
  const pods = metrics.counter({
    name: "job_controller_job_pods_finished_total",
    help: "Number of finished pods that are counted in the status of their job.",
    labels: ["completion_mode", "result"],
    stability: "STABLE",
  });
  const handled = metrics.counter({
    name: "job_controller_pod_failures_handled_by_failure_policy_total",
    help: "Number of failed pods to which a rule of the failure policy applied, by its action.",
    labels: ["action"],
  });
  const tracked = metrics.counter({
    name: "job_controller_terminated_pods_tracking_finalizer_total",
    help: "Number of terminated pods that got or lost the job tracking finalizer, by event (add or delete).",
    labels: ["event"],
  });
  const indexes = rules.failedIndexes
    ? metrics.counter({
        name: "job_controller_job_finished_indexes_total",
        help: "Number of finished indexes, by status (succeeded or failed) and scope of the backoff limit (perIndex or global).",
        labels: ["status", "backoffLimit"],
      })
    : undefined;
  const created = rules.replacementPolicies
    ? metrics.counter({
        name: "job_controller_job_pods_creation_total",
        help: "Number of pods created by the job controller, by reason (new, recreate_terminating_or_failed or recreate_failed) and status (succeeded or failed).",
        labels: ["reason", "status"],
      })
    : undefined;
  const elsewhere = rules.otherManagers
    ? metrics.counter({
        name: "job_controller_jobs_by_external_controller_total",
        help: "Number of jobs that another controller manages.",
        labels: ["controller_name"],
      })
    : undefined;
  const managers = new Set<string>();
  const isTracked = (pod: SeenPod | undefined): boolean =>
    pod !== undefined && isFinished(pod) && hasFinalizer(pod);
  return {
    synced: (job, { action, result }, seconds) => {
      const labels = [modeOf(job), result, action];
      duration.with(...labels).observe(seconds);
      syncs.with(...labels).add();
    },
    finished: (job, { type, reason = "" }) => {
      const labels = type === "Complete" ? ["succeeded", reason] : ["failed", reason];
      finished.with(modeOf(job), ...labels).add();
    },
    podsFinished: (before, job) => {
      const succeeded = succeededOf(job.status, job) - succeededOf(before, job);
      const failed = (job.status.failed ?? 0) - (before.failed ?? 0);
      pods.with(modeOf(job), "succeeded").add(Math.max(0, succeeded));
      pods.with(modeOf(job), "failed").add(Math.max(0, failed));
      if (!isIndexed(job)) return;
      const perIndex = typeof job.spec.backoffLimitPerIndex === "number";
      const scope = perIndex ? "perIndex" : "global";
      indexes?.with("succeeded", scope).add(Math.max(0, succeeded));
      const failedIndexes = failedIndexesOf(job.status, job) - failedIndexesOf(before, job);
      if (perIndex && failedIndexes > 0) indexes?.with("failed", scope).add(failedIndexes);
    },
    podsCreated: ({ failedOnly, failed, terminating }, succeededCount, failedCount) => {
      const reason =
        failedOnly && failed > 0
          ? "recreate_failed"
          : failed > 0 || terminating > 0
            ? "recreate_terminating_or_failed"
            : "new";
      if (succeededCount > 0) created?.with(reason, "succeeded").add(succeededCount);
      if (failedCount > 0) created?.with(reason, "failed").add(failedCount);
    },
    managedElsewhere: (controller) => {
      if (managers.size < maxManagers) managers.add(controller);
      if (managers.has(controller)) elsewhere?.with(controller).add();
    },
    failureHandled: (action) => handled.with(action).add(),
    podChanged: (before, after) => {
      const is = isTracked(after);
      if (isTracked(before) !== is) tracked.with(is ? "add" : "delete").add();
    },
  };
}

/** Returns how many pods succeeded; of an indexed job, those whose index is still below its completions. */
const succeededOf = (status: JobStatus, job: SeenJob): number =>
  isIndexed(job)
    ? IndexSet.parse(status.completedIndexes, job.spec.completions ?? 0).size
    : (status.succeeded ?? 0);

const failedIndexesOf = ({ failedIndexes }: JobStatus, { spec }: SeenJob): number =>
  IndexSet.parse(failedIndexes ?? undefined, spec.completions ?? 0).size;
