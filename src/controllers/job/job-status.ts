// Job status: finish conditions, and counting of finished pods.
import type { JobCondition, JobStatus } from "#api";
import { timeOfMillis } from "#base";
import { type SeenPod, timeOf } from "../pods.ts";
import { judgeFailure } from "./failure-policy.ts";
import type { IndexSet } from "./indexes.ts";
import {
  type JobRules,
  type SeenJob,
  announcesEnd,
  failurePolicyOf,
  hasFailed,
  isPastRestartLimit,
  isSuspended,
} from "./job-pods.ts";
import { metRule } from "./success-policy.ts";

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
  const isSet = (type: string) =>
    status.conditions?.find((each) => each.type === type && each.status === "True");
  const success = isSet("SuccessCriteriaMet");
  if (success && (rules.successPolicies || announcesEnd(rules))) return success;
  const target = isSet("FailureTarget");
  if (target && (rules.failurePolicies || announcesEnd(rules)))
    return newCondition("Failed", target.reason ?? "", target.message ?? "", now);
  const policy = failurePolicyOf(job, rules);
  for (const pod of policy ? mine : []) {
    const { failsJob } = hasFailed(pod, job, rules) ? judgeFailure(policy, pod, rules.failedIndexes) : {};
    if (failsJob) return newCondition("FailureTarget", "PodFailurePolicy", failsJob, now);
  }
  const failed = failureType(rules);
  if (isPastLimit || isPastRestartLimit(job, mine))
    return newCondition(failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit", now);
  const seconds = job.spec.activeDeadlineSeconds;
  if (typeof seconds !== "number" || isSuspended(job) || !status.startTime) return undefined;
  return now - timeOf(status.startTime) >= seconds * 1000
    ? newCondition(failed, "DeadlineExceeded", "Job was active longer than specified deadline", now)
    : undefined;
}

const failureType = (rules: JobRules): string => (announcesEnd(rules) ? "FailureTarget" : "Failed");

/** Returns the condition that finishes the job because of the indexes that have failed or succeeded. */
export function finishOfIndexes(
  { spec }: SeenJob,
  rules: JobRules,
  indexes: { readonly succeeded: IndexSet; readonly failed: IndexSet | undefined },
  now: number,
): JobCondition | undefined {
  const { succeeded, failed } = indexes;
  const completions = spec.completions ?? 0;
  if (failed && failed.size > (spec.maxFailedIndexes ?? Infinity))
    return newCondition(
      failureType(rules),
      "MaxFailedIndexesExceeded",
      "Job has exceeded the specified maximal number of failed indexes",
      now,
    );
  if (failed && failed.size > 0 && failed.size + succeeded.size >= completions)
    return newCondition(failureType(rules), "FailedIndexes", "Job has failed indexes", now);
  const met = rules.successPolicies ? metRule(spec.successPolicy, succeeded, completions) : undefined;
  return met === undefined ? undefined : newCondition("SuccessCriteriaMet", "SuccessPolicy", met, now);
}

/** Returns the condition of a job with all of its completions. */
export function completion(rules: JobRules, now: number): JobCondition {
  const [reason, message] = rules.successPolicies
    ? ["CompletionsReached", "Reached expected number of succeeded pods"]
    : ["", ""];
  return newCondition(announcesEnd(rules) ? "SuccessCriteriaMet" : "Complete", reason, message, now);
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
