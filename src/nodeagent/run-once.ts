// Run-once mode: the agent starts its pods and exits.
import type { Pod } from "#api";
import type { Clock } from "#base";
import { keyOf } from "./pod.ts";

export interface RunOnceOptions {
  readonly clock: Clock;
  /** Reports whether all pod sources are ready. */
  readonly ready: () => boolean;
  readonly pods: () => readonly Pod[];
}

const pollMilliseconds = 250;
const timeoutMilliseconds = 10 * 60_000;

/**
 * Waits until every pod has been started, for at most ten minutes; returns the names of those that were not.
 */
export async function runOnce({ clock, ready, pods }: RunOnceOptions): Promise<readonly string[]> {
  const until = clock.monotonic() + timeoutMilliseconds;
  const notStarted = (): string[] =>
    pods()
      .filter(({ status }) => status?.phase !== "Running" && status?.phase !== "Succeeded")
      .map(keyOf);
  const isFinal = (): boolean =>
    ready() && pods().every(({ status }) => status?.phase !== undefined && status.phase !== "Pending");
  while (!isFinal() && clock.monotonic() < until) await clock.sleep(pollMilliseconds);
  return notStarted();
}
