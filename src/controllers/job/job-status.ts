// Job status: finish conditions, and counting of finished pods.
import type { JobCondition, JobStatus } from "#api";
import { timeOfMillis } from "#base";
import { type SeenPod, timeOf } from "../pods.ts";
import { judgeFailure } from "./failure-policy.ts";
import {
  type JobRules,
  type SeenJob,
  failurePolicyOf,
  hasFailed,
  isPastRestartLimit,
  isSuspended,
} from "./job-pods.ts";

/** Returns the condition that finishes the job now, if any. */
export function finishOf(
  {
    job,
    mine,
    rules,
  }: { readonly job: SeenJob; readonly mine: readonly SeenPod[]; readonly rules: JobRules },
  status: JobStatus,
  isPastLimit: boolean,
  now: number,
): JobCondition | undefined {
  const target = status.conditions?.find(({ type }) => type === "FailureTarget");
  if (target && rules.failurePolicies)
    return newCondition("Failed", target.reason ?? "", target.message ?? "", now);
  const policy = failurePolicyOf(job, rules);
  for (const pod of policy ? mine : []) {
    const { failsJob } = hasFailed(pod, job, rules) ? judgeFailure(policy, pod) : {};
    if (failsJob) return newCondition("FailureTarget", "PodFailurePolicy", failsJob, now);
  }
  if (isPastLimit || isPastRestartLimit(job, mine))
    return newCondition("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit", now);
  const seconds = job.spec.activeDeadlineSeconds;
  if (typeof seconds !== "number" || isSuspended(job) || !status.startTime) return undefined;
  return now - timeOf(status.startTime) >= seconds * 1000
    ? newCondition("Failed", "DeadlineExceeded", "Job was active longer than specified deadline", now)
    : undefined;
}

export const newCondition = (type: string, reason: string, message: string, now: number): JobCondition => ({
  type,
  status: "True",
  lastProbeTime: timeOfMillis(now),
  lastTransitionTime: timeOfMillis(now),
  ...(reason && { reason }),
  ...(message && { message }),
});

export const withCondition = (
  conditions: readonly JobCondition[] | undefined,
  next: JobCondition,
): JobCondition[] => {
  const same = (each: JobCondition): boolean => each.type === next.type;
  return (conditions ?? []).some(same)
    ? conditions!.map((each) => (same(each) ? next : each))
    : [...(conditions ?? []), next];
};

export const uncountedOf = (lists: { succeeded: string[]; failed: string[] }) => ({
  ...(lists.succeeded.length > 0 && { succeeded: lists.succeeded }),
  ...(lists.failed.length > 0 && { failed: lists.failed }),
});

/** Adds pods that have lost their finalizer to the counts. */
export function countReleased(status: JobStatus, withFinalizer: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const kept = {
    succeeded: succeeded.filter((uid) => withFinalizer.has(uid)),
    failed: failed.filter((uid) => withFinalizer.has(uid)),
  };
  const more = succeeded.length - kept.succeeded.length;
  const moreFailed = failed.length - kept.failed.length;
  if (more + moreFailed === 0) return status;
  return {
    ...status,
    ...(more > 0 && { succeeded: (status.succeeded ?? 0) + more }),
    ...(moreFailed > 0 && { failed: (status.failed ?? 0) + moreFailed }),
    uncountedTerminatedPods: uncountedOf(kept),
  };
}
