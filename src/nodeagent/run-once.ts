// For agents that start the pods of local files and URLs, and then quit.
import type { Pod } from "#api";
import type { Clock } from "#base";
import { keyOf } from "./pod.ts";

export interface RunOnceOptions {
  readonly clock: Clock;
  /** Whether all sources have spoken. */
  readonly ready: () => boolean;
  readonly pods: () => readonly Pod[];
}

const lookMilliseconds = 250;
const patienceMilliseconds = 10 * 60_000;

/** Resolves once every pod has been started; the names of those that were not, in the end. */
export async function runOnce({ clock, ready, pods }: RunOnceOptions): Promise<readonly string[]> {
  const until = clock.now() + patienceMilliseconds;
  const left = (): string[] =>
    pods()
      .filter(({ status }) => status?.phase !== "Running" && status?.phase !== "Succeeded")
      .map(keyOf);
  const isFinal = (): boolean =>
    ready() && pods().every(({ status }) => status?.phase !== undefined && status.phase !== "Pending");
  while (!isFinal() && clock.now() < until) await clock.sleep(lookMilliseconds);
  return left();
}
