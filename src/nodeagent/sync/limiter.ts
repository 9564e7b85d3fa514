// Lets only so many through at a time: on a busy machine twenty pods that start one after the other are all
// there as soon as twenty that start together, and the first of them much sooner. Whoever takes very long is
// not waited for, so that one that hangs holds up nobody.
import type { Clock } from "#base";

export interface LimiterOptions {
  readonly clock: Clock;
  readonly atOnce: number;
  /** How long one that has passed counts. */
  readonly patienceMilliseconds?: number;
}

export interface LimitOptions {
  /** Goes after all who wait and did not say so. */
  readonly lowPriority?: boolean;
  readonly signal?: AbortSignal;
}

export interface Limiter {
  /** Runs it when there is room, in the order of coming. */
  run<T>(run: () => Promise<T>, options?: LimitOptions): Promise<T>;
}

const usualPatienceMilliseconds = 1000;

export function limiter({
  clock,
  atOnce,
  patienceMilliseconds = usualPatienceMilliseconds,
}: LimiterOptions): Limiter {
  const waiting = { first: new Set<() => void>(), last: new Set<() => void>() };
  let inside = 0;

  const letIn = (): void => {
    while (inside < atOnce) {
      const [queue] = [waiting.first, waiting.last].filter(({ size }) => size > 0);
      if (!queue) return;
      const [next] = queue;
      queue.delete(next!);
      inside++;
      next!();
    }
  };
  const turn = (queue: Set<() => void>, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        queue.delete(enter);
        reject(signal!.reason as Error);
      };
      const enter = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      signal?.addEventListener("abort", leave, { once: true });
      queue.add(enter);
      letIn();
    });

  return {
    run: async (run, { lowPriority = false, signal } = {}) => {
      signal?.throwIfAborted();
      await turn(lowPriority ? waiting.last : waiting.first, signal);
      let counts = true;
      const out = (): void => {
        if (!counts) return;
        counts = false;
        inside--;
        letIn();
      };
      const cancel = clock.after(patienceMilliseconds, out);
      try {
        return await run();
      } finally {
        cancel();
        out();
      }
    },
  };
}
