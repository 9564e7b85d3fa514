// Failures of single indexes, in jobs that limit them: each pod carries the number of failures of its index
// before it. A failed pod therefore keeps its finalizer until its replacement has been created.
import type { Dialect } from "#dialect";
import type { SeenPod } from "../pods.ts";
import { maxMillisecondsOfIndexes, recordedEnd, remainingMilliseconds } from "./backoff.ts";
import { judgeFailure } from "./failure-policy.ts";
import { IndexSet } from "./indexes.ts";
import { type JobRules, type SeenJob, failurePolicyOf, hasFailed, indexOf } from "./job-pods.ts";

export const limitsIndexes = ({ spec }: SeenJob, rules: JobRules): boolean =>
  rules.failedIndexes && typeof spec.backoffLimitPerIndex === "number";

/** Returns the indexes that have failed: those in the status and those of failed pods not counted yet. */
export function failedIndexesOf(
  job: SeenJob,
  uncounted: readonly SeenPod[],
  rules: JobRules,
  dialect: Dialect,
): IndexSet {
  const completions = job.spec.completions ?? 0;
  const failed = IndexSet.parse(job.status.failedIndexes ?? undefined, completions);
  for (const pod of uncounted) {
    const index = indexOf(pod, dialect);
    if (index >= 0 && index < completions && failsIndex(job, pod, rules, dialect)) failed.add(index);
  }
  return failed;
}

function failsIndex(job: SeenJob, pod: SeenPod, rules: JobRules, dialect: Dialect): boolean {
  if (!hasFailed(pod, job, rules)) return false;
  const { action, counts } = judgeFailure(failurePolicyOf(job, rules), pod, true);
  return (
    action === "FailIndex" ||
    (counts && failuresBefore(pod, dialect).counted >= job.spec.backoffLimitPerIndex!)
  );
}

interface Failures {
  readonly counted: number;
  /** Failures that the failure policy ignored. */
  readonly ignored: number;
}

function failuresBefore({ metadata }: SeenPod, { names }: Dialect): Failures {
  const count = (key: string): number => {
    const text = metadata.annotations?.[key] ?? "";
    return /^\d{1,10}$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : 0;
  };
  return {
    counted: count(names.annotations.jobIndexFailures),
    ignored: count(names.annotations.jobIndexIgnoredFailures),
  };
}

const allFailuresBefore = (pod: SeenPod, dialect: Dialect): number => {
  const { counted, ignored } = failuresBefore(pod, dialect);
  return counted + ignored;
};

/** Returns the last failed pod of each index that has neither ended nor an active pod. */
export function podsToReplace(
  failed: readonly SeenPod[],
  isSettled: (index: number) => boolean,
  dialect: Dialect,
): Map<number, SeenPod> {
  const last = new Map<number, SeenPod>();
  for (const pod of failed) {
    const index = indexOf(pod, dialect);
    if (isSettled(index)) continue;
    const other = last.get(index);
    if (
      !other ||
      (allFailuresBefore(other, dialect) <= allFailuresBefore(pod, dialect) &&
        recordedEnd(other) <= recordedEnd(pod))
    )
      last.set(index, pod);
  }
  return last;
}

/** Returns the annotations with which a new pod carries on the failures of its index. */
export function failureAnnotations(
  job: SeenJob,
  replaced: SeenPod | undefined,
  rules: JobRules,
  dialect: Dialect,
): Record<string, string> {
  const { jobIndexFailures, jobIndexIgnoredFailures } = dialect.names.annotations;
  if (!replaced) return { [jobIndexFailures]: "0" };
  const { counts } = judgeFailure(failurePolicyOf(job, rules), replaced, true);
  const before = failuresBefore(replaced, dialect);
  const ignored = before.ignored + (counts ? 0 : 1);
  return {
    [jobIndexFailures]: String(before.counted + (counts ? 1 : 0)),
    ...(ignored > 0 && { [jobIndexIgnoredFailures]: String(ignored) }),
  };
}

/** Splits indexes into those that may have a pod now and, if there are none, how long the next one waits. */
export function readyIndexes(
  indexes: readonly number[],
  replaced: ReadonlyMap<number, SeenPod>,
  now: number,
  dialect: Dialect,
): { readonly indexes: readonly number[]; readonly delay: number } {
  const delayOf = (index: number): number => {
    const pod = replaced.get(index);
    if (!pod) return 0;
    const record = { failures: allFailuresBefore(pod, dialect) + 1, lastFailureAt: recordedEnd(pod) };
    return remainingMilliseconds(record, now, maxMillisecondsOfIndexes);
  };
  const delays = indexes.map(delayOf);
  const ready = indexes.filter((_, at) => delays[at] === 0);
  return { indexes: ready, delay: ready.length > 0 || delays.length === 0 ? 0 : Math.min(...delays) };
}
