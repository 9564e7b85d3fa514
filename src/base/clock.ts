// Time as a dependency: whatever ticks takes a Clock, so that tests can turn the hands.

/** Tells the time and wakes sleepers. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `milliseconds`, or rejects with the signal's reason when aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `run` once after `milliseconds`; the returned function cancels it. Does not keep the process alive.
   */
  after(milliseconds: number, run: () => void): () => void;
}

/**
 * Lists of timers that are empty and not let go of are gone after their time: only those of long times
 * matter.
 */
const lingering = 60_000;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const abort = (): void => {
        clearTimeout(timer);
        reject(signal!.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, milliseconds);
      signal?.addEventListener("abort", abort, { once: true });
    }),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    timer.unref();
    if (milliseconds <= lingering) return () => clearTimeout(timer);
    return () => {
      // The runtime keeps a list for each length of time, and lets go of one that is empty only if its last
      // timer held the process.
      if (timer.hasRef() === false) timer.ref();
      clearTimeout(timer);
    };
  },
};

/** A clock that moves only when told to. */
export interface VirtualClock extends Clock {
  /** Moves the hands forward and runs everything that falls due, in order. */
  advance(milliseconds: number): Promise<void>;
}

interface VirtualTimer {
  readonly at: number;
  readonly run: () => void;
}

/** Makes a clock for tests, standing at `start`. */
export function virtualClock(start = 0): VirtualClock {
  let now = start;
  /** In the order in which they were set, which is that of those due at the same time. */
  const timers = new Set<VirtualTimer>();
  const after = (milliseconds: number, run: () => void): (() => void) => {
    const timer = { at: now + milliseconds, run };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const firstBefore = (end: number): VirtualTimer | undefined => {
    let first: VirtualTimer | undefined;
    for (const timer of timers) if (timer.at <= end && (!first || timer.at < first.at)) first = timer;
    return first;
  };
  return {
    now: () => now,
    after,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason as Error);
          return;
        }
        const cancel = after(milliseconds, () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        });
        const abort = (): void => {
          cancel();
          reject(signal!.reason as Error);
        };
        signal?.addEventListener("abort", abort, { once: true });
      }),
    advance: async (milliseconds) => {
      const end = now + milliseconds;
      for (;;) {
        const next = firstBefore(end);
        if (!next) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.run();
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = end;
    },
  };
}
