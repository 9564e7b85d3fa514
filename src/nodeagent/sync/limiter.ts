// Limits concurrency. On a busy machine twenty pods started one after the other complete as soon as twenty
// started together, and the first of them much sooner. A task that takes very long releases its slot early,
// so that a hanging task does not block the others.
import type { Clock } from "#base";

export interface LimiterOptions {
  readonly clock: Clock;
  readonly atOnce: number;
  /** How long a running task occupies its slot. */
  readonly patienceMilliseconds?: number;
}

export interface LimitOptions {
  /** Runs after all waiting tasks without this option. */
  readonly lowPriority?: boolean;
  readonly signal?: AbortSignal;
}

export interface Limiter {
  /** Runs the task when a slot is free, in FIFO order. */
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
