// One worker per pod: events change its state at once, and one action at a time makes the world follow.
// Events of any number collapse into the newest state, so there is no queue to overflow. What makes the
// current action pointless aborts it.
import type { Clock, Log } from "#base";
import { type WorkerEvent, type WorkerState, next } from "./state.ts";

/** What an action leaves to be done: look again after so many milliseconds, or what comes of it. */
export interface Done {
  readonly againMilliseconds?: number;
  readonly next?: WorkerEvent;
}

export interface WorkerOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Brings the world nearer to the state. Rejections are retried. */
  readonly act: (state: WorkerState, signal: AbortSignal) => Promise<Done>;
}

export interface Worker {
  state(): WorkerState;
  /** A quiet event that moves nothing is only remembered. */
  send(event: WorkerEvent, quiet?: boolean): void;
  /** Looks again, soon: something was observed. */
  wake(): void;
  /** Ends the worker where it is; resolves when its action has ended. */
  close(): Promise<void>;
}

const firstRetryMilliseconds = 2500;
const lastRetryMilliseconds = 10_000;

export function worker(begin: WorkerState, { clock, log, act }: WorkerOptions): Worker {
  let state = begin;
  let wanted = false;
  let running: Promise<void> | undefined;
  let current = new AbortController();
  let cancelTimer: (() => void) | undefined;
  let failures = 0;
  let closed = false;

  const send = (event: WorkerEvent, quiet = false): void => {
    const from = state;
    state = next(from, event);
    if (state === from || (quiet && state.at === from.at)) return;
    if (overtakes(from, state)) current.abort(new Overtaken());
    if (state.at !== from.at) failures = 0;
    wake();
  };
  const wake = (): void => {
    if (closed) return;
    wanted = true;
    running ??= run();
  };
  const wakeAfter = (milliseconds: number): void => {
    cancelTimer?.();
    cancelTimer = clock.after(milliseconds, wake);
  };

  async function run(): Promise<void> {
    // A turn later, so that whoever wakes many workers is done first.
    await Promise.resolve();
    while (wanted && !closed) {
      wanted = false;
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
      current.abort(new Overtaken());
      await running;
    },
  };
}

/** Thrown into an action that a newer message made pointless. */
export class Overtaken extends Error {
  override readonly name = "Overtaken";
  constructor() {
    super("a newer message overtook this action");
  }
}

/** Whether what is being done for one state is pointless for the other. */
function overtakes(from: WorkerState, to: WorkerState): boolean {
  if (from.at !== to.at) return true;
  // A changed pod waits: the runtime would refuse to make twice what was cut off while it was made.
  return from.at === "terminating" && to.at === "terminating" && to.graceSeconds < from.graceSeconds;
}
