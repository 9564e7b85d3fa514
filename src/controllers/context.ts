// What every loop gets.
import type { Clock, Log } from "#base";
import type { ApiClient } from "#client";
import type { Dialect } from "#dialect";
import type { ClusterView } from "./cluster-view.ts";
import { type WorkQueue, type WorkQueueOptions, workQueue } from "./work-queue.ts";

export interface ControllerContext {
  readonly client: ApiClient;
  readonly view: ClusterView;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly dialect: Dialect;
}

/** A loop that has been started: what it still has to end. */
export interface Controller {
  readonly stopped: Promise<void>;
}

/** A queue that waits until the view is complete and writes its troubles to the log. */
export function queueFor(
  { clock, signal, log, view }: ControllerContext,
  controller: string,
  work: WorkQueueOptions["work"],
  workers?: number,
): WorkQueue {
  return workQueue({
    clock,
    signal,
    ...(workers !== undefined && { workers }),
    work: async (key) => {
      await view.synced();
      return await work(key);
    },
    onTrouble: (key, error) =>
      log.warn("a controller could not do its work; it tries again", {
        controller,
        key,
        error: error.message,
      }),
  });
}
