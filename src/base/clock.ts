// Time as a dependency: code that uses timers takes a Clock, so that tests can control the time.

/** Provides the current time, sleeps and timers. */
export interface Clock {
  /** Milliseconds since the epoch; set forward and back together with the machine's clock. */
  now(): number;
  /** Milliseconds since an arbitrary start, never set: for intervals, deadlines and rates within the process. */
  monotonic(): number;
  /** Resolves after `milliseconds`, or rejects with the signal's reason when aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `run` once after `milliseconds`; the returned function cancels it. Does not keep the process alive.
   */
  after(milliseconds: number, run: () => void): () => void;
}

/**
 * Timers up to this length need no special treatment when cancelled: their empty list is released when its
 * time is over.
 */
const longestShortTimer = 60_000;
/** A timer with a longer time would run at once. */
const longestTimer = 2 ** 31 - 1;

/** Starts a timer of any length; the returned function provides the one that is pending. */
function longTimer(milliseconds: number, run: () => void, keepsAlive: boolean): () => NodeJS.Timeout {
  let timer: NodeJS.Timeout;
  const start = (left: number): void => {
    const part = Math.min(left, longestTimer);
    timer = setTimeout(left > part ? () => start(left - part) : run, part);
    if (!keepsAlive) timer.unref();
  };
  start(milliseconds);
  return () => timer;
}

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const abort = (): void => {
        clearTimeout(timer());
        reject(signal!.reason as Error);
      };
      const wake = (): void => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const timer = longTimer(milliseconds, wake, true);
      signal?.addEventListener("abort", abort, { once: true });
    }),
  after: (milliseconds, run) => {
    const timer = longTimer(milliseconds, run, false);
    if (milliseconds <= longestShortTimer) return () => clearTimeout(timer());
    return () => {
      // Node keeps one list of timers per duration, and releases an empty list early only if its last timer
      // was ref'd.
      if (timer().hasRef() === false) timer().ref();
      clearTimeout(timer());
    };
  },
};

/** A clock that only moves when `advance` is called. */
export interface VirtualClock extends Clock {
  /** Moves the clock forward and runs every timer that becomes due, in order. */
  advance(milliseconds: number): Promise<void>;
  /** Sets the time forward or back, as when the machine's clock is set; timers are not affected. */
  set(milliseconds: number): void;
}

interface VirtualTimer {
  readonly at: number;
  readonly run: () => void;
}

/** Creates a clock for tests that starts at `start`. */
export function virtualClock(start = 0): VirtualClock {
  let now = start;
  /** How far the time was set. */
  let offset = 0;
  /** In the order of creation, which is the order in which timers due at the same time run. */
  const timers = new Set<VirtualTimer>();
  const after = (milliseconds: number, run: () => void): (() => void) => {
    const timer = { at: now + milliseconds, run };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const nextDue = (end: number): VirtualTimer | undefined => {
    let first: VirtualTimer | undefined;
    for (const timer of timers) if (timer.at <= end && (!first || timer.at < first.at)) first = timer;
    return first;
  };
  return {
    now: () => now + offset,
    monotonic: () => now,
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
        const next = nextDue(end);
        if (!next) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.run();
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = end;
    },
    set: (milliseconds) => void (offset = milliseconds - now),
  };
}
