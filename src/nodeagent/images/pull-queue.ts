// When pulls may run: so many at once, so many a second. Those who wait go in the order they came.
import type { Clock } from "#base";

export interface PullQueueOptions {
  readonly clock: Clock;
  /** Pulls at one time; Infinity for no limit. */
  readonly atOnce: number;
  /** Pulls a second and how many may come together; 0 is no limit. */
  readonly perSecond: number;
  readonly burst: number;
}

export interface PullQueue {
  run<T>(pull: () => Promise<T>): Promise<T>;
}

/** The registry was asked too often. */
export class PullRateExceeded extends Error {
  override readonly name = "PullRateExceeded";
  constructor() {
    super("pull QPS exceeded");
  }
}

const mostWaiting = 10_000;

export function pullQueue({ clock, atOnce, perSecond, burst }: PullQueueOptions): PullQueue {
  let running = 0;
  const waiting: (() => void)[] = [];
  let tokens = burst;
  let filledAt = clock.now();
  const take = (): void => {
    if (perSecond <= 0) return;
    tokens = Math.min(burst, tokens + ((clock.now() - filledAt) / 1000) * perSecond);
    filledAt = clock.now();
    if (tokens < 1) throw new PullRateExceeded();
    tokens -= 1;
  };
  return {
    run: async (pull) => {
      take();
      if (running >= atOnce) {
        if (waiting.length >= mostWaiting) throw new Error("too many images wait to be pulled");
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else running++;
      try {
        return await pull();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else running--;
      }
    },
  };
}
