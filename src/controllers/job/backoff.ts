// Backoff of a job before it replaces failed pods: grows with each failure since the last success.
import { type SeenPod, conditionOf, createdAt, timeOf } from "../pods.ts";

export interface Backoff {
  readonly failures: number;
  readonly lastFailureAt: number;
}

const baseMilliseconds = 10_000;
const maxMilliseconds = 6 * 60_000;
export const maxMillisecondsOfIndexes = 10 * 60_000;

export const noFailures: Backoff = { failures: 0, lastFailureAt: 0 };

/** Returns when the pod's last container terminated; undefined if that is unknown. */
function lastEnd({ status }: SeenPod): number | undefined {
  const ends = (status.containerStatuses ?? []).map(({ state }) => timeOf(state?.terminated?.finishedAt));
  return ends.length > 0 && ends.every((at) => at > 0) ? Math.max(...ends) : undefined;
}

/** Returns when the pod's last container terminated; now if that is unknown. */
export function finishedAt(pod: SeenPod, now: number): number {
  const { deletionTimestamp } = pod.metadata;
  return lastEnd(pod) ?? (deletionTimestamp ? timeOf(deletionTimestamp) : now);
}

/** Returns when the pod finished as far as the pod itself shows, which later calls return again. */
export function recordedEnd(pod: SeenPod): number {
  const end = lastEnd(pod);
  if (end !== undefined) return end;
  const ready = conditionOf(pod.status.conditions, "Ready");
  if (ready?.status === "False" && ready.lastTransitionTime) return timeOf(ready.lastTransitionTime);
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  return deletionTimestamp
    ? timeOf(deletionTimestamp) - Number(deletionGracePeriodSeconds ?? 0) * 1000
    : createdAt(pod);
}

/** Returns the backoff record after these pods finished. */
export function nextBackoff(
  before: Backoff,
  succeeded: readonly SeenPod[],
  failed: readonly SeenPod[],
  now: number,
): Backoff {
  if (succeeded.length + failed.length === 0) return before;
  const failures = failed.map((pod) => finishedAt(pod, now)).toSorted((a, b) => a - b);
  if (succeeded.length === 0)
    return { failures: before.failures + failed.length, lastFailureAt: failures.at(-1)! };
  const lastSuccess = Math.max(...succeeded.map((pod) => finishedAt(pod, now)));
  const after = failures.filter((at) => at > lastSuccess);
  return { failures: after.length, lastFailureAt: after.at(-1) ?? 0 };
}

export function remainingMilliseconds(
  { failures, lastFailureAt }: Backoff,
  now: number,
  longest = maxMilliseconds,
): number {
  if (failures === 0) return 0;
  const wait = Math.min(longest, baseMilliseconds * 2 ** Math.min(failures - 1, 20));
  return Math.max(0, lastFailureAt + wait - now);
}
