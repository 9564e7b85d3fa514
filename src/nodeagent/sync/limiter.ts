// Limits concurrency. On a busy machine twenty pods started one after the other complete as soon as twenty
// started together, and the first of them much sooner. A task that takes very long releases its slot early,
// so that a hanging task does not block the others.
import type { Clock } from "#base";

export interface LimiterOptions {
  readonly clock: Clock;
  readonly concurrency: number;
  /** How long a running task occupies its slot. */
  readonly slotMilliseconds?: number;
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

const defaultSlotMilliseconds = 1000;

export function limiter({
  clock,
  concurrency: atOnce,
  slotMilliseconds = defaultSlotMilliseconds,
}: LimiterOptions): Limiter {
  const waiting = { first: new Set<() => void>(), last: new Set<() => void>() };
  let active = 0;

  const admit = (): void => {
    while (active < atOnce) {
      const [queue] = [waiting.first, waiting.last].filter(({ size }) => size > 0);
      if (!queue) return;
      const [next] = queue;
      queue.delete(next!);
      active++;
      next!();
    }
  };
  const acquire = (queue: Set<() => void>, signal: AbortSignal | undefined): Promise<void> =>
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
      admit();
    });

  return {
    run: async (run, { lowPriority = false, signal } = {}) => {
      signal?.throwIfAborted();
      await acquire(lowPriority ? waiting.last : waiting.first, signal);
      let counts = true;
      const release = (): void => {
        if (!counts) return;
        counts = false;
        active--;
        admit();
      };
      const cancel = clock.after(slotMilliseconds, release);
      try {
        return await run();
      } finally {
        cancel();
        release();
      }
    },
  };
}
