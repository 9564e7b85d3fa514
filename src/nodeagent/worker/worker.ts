// A pod worker: events change its state at once, and actions run one at a time to reconcile the pod with that
// state. Any number of events collapses into the newest state, so no queue can overflow. An event that makes
// the current action pointless aborts it.
import type { Clock, Log } from "#base";
import { type WorkerEvent, type WorkerState, next } from "./state.ts";

/** The result of an action: when to run the next one, or an event that follows from it. */
export interface ActionResult {
  readonly againMilliseconds?: number;
  readonly next?: WorkerEvent;
}

export interface WorkerOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Reconciles the pod with the state. Failures are retried. */
  readonly act: (state: WorkerState, signal: AbortSignal) => Promise<ActionResult>;
}

export interface Worker {
  state(): WorkerState;
  /**
   * Applies an event. A quiet event that causes no transition updates the state without waking the worker.
   */
  send(event: WorkerEvent, quiet?: boolean): void;
  /** Runs the action again soon, because something was observed. */
  wake(): void;
  /** Stops the worker; resolves when its current action has ended. */
  close(): Promise<void>;
}

const firstRetryMilliseconds = 2500;
const lastRetryMilliseconds = 10_000;

export function worker(begin: WorkerState, { clock, log, act }: WorkerOptions): Worker {
  let state = begin;
  let pending = false;
  let running: Promise<void> | undefined;
  let current = new AbortController();
  let cancelTimer: (() => void) | undefined;
  let failures = 0;
  let closed = false;

  const send = (event: WorkerEvent, quiet = false): void => {
    const from = state;
    state = next(from, event);
    if (state === from || (quiet && state.at === from.at)) return;
    if (supersedes(from, state)) current.abort(new Superseded());
    if (state.at !== from.at) failures = 0;
    wake();
  };
  const wake = (): void => {
    if (closed) return;
    pending = true;
    running ??= run();
  };
  const wakeAfter = (milliseconds: number): void => {
    cancelTimer?.();
    cancelTimer = clock.after(milliseconds, wake);
  };

  async function run(): Promise<void> {
    // Deferred by a microtask, so that a caller that wakes many workers finishes first.
    await Promise.resolve();
    while (pending && !closed) {
      pending = false;
      cancelTimer?.();
      cancelTimer = undefined;
      current = new AbortController();
      const { signal } = current;
      try {
        const done = await act(state, signal);
        failures = 0;
        if (done.againMilliseconds !== undefined) wakeAfter(done.againMilliseconds);
        if (done.next) send(done.next);
      } catch (error) {
        if (closed || signal.aborted) continue;
        failures++;
        log.verbose(2, "pod action failed; will retry", {
          pod: state.pod.metadata.name,
          at: state.at,
          error: (error as Error).message,
        });
        wakeAfter(Math.min(firstRetryMilliseconds * 2 ** (failures - 1), lastRetryMilliseconds));
      }
    }
    running = undefined;
  }

  return {
    state: () => state,
    send,
    wake,
    close: async () => {
      closed = true;
      cancelTimer?.();
      current.abort(new Superseded());
      await running;
    },
  };
}

/** The abort reason of an action that a newer event made pointless. */
export class Superseded extends Error {
  override readonly name = "Overtaken";
  constructor() {
    super("a newer event superseded this action");
  }
}

/** Reports whether an action for one state is pointless in the other. */
function supersedes(from: WorkerState, to: WorkerState): boolean {
  if (from.at !== to.at) return true;
  // A changed pod waits for the current action: the runtime rejects a second create while an interrupted one
  // is in progress.
  return from.at === "terminating" && to.at === "terminating" && to.graceSeconds < from.graceSeconds;
}
