// Limits concurrent image pulls and their rate. Waiting pulls run in the order of their arrival.
import type { Clock } from "#base";

export interface PullQueueOptions {
  readonly clock: Clock;
  /** Maximum concurrent pulls; Infinity means unlimited. */
  readonly atOnce: number;
  /** Pulls per second and the burst; 0 means unlimited. */
  readonly perSecond: number;
  readonly burst: number;
}

export interface PullQueue {
  /** Runs the pull in its turn. A waiting pull leaves the queue when the signal is aborted. */
  run<T>(pull: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface PullSettings {
  readonly serializeImagePulls: boolean;
  readonly maxParallelImagePulls: number | undefined;
  readonly registryQps: number;
  readonly registryBurst: number;
}

/** Returns the limits from the settings: one pull at a time, a maximum, or unlimited. */
export const pullLimits = (settings: PullSettings): Omit<PullQueueOptions, "clock"> => ({
  atOnce: settings.serializeImagePulls ? 1 : (settings.maxParallelImagePulls ?? Infinity),
  perSecond: settings.registryQps,
  burst: settings.registryBurst,
});

/** The rate of pulls was exceeded. */
export class PullRateExceeded extends Error {
  override readonly name = "PullRateExceeded";
  constructor() {
    super("pull QPS exceeded");
  }
}

const maxWaiting = 10_000;

export function pullQueue({ clock, atOnce, perSecond, burst }: PullQueueOptions): PullQueue {
  let running = 0;
  const waiting = new Set<() => void>();
  let tokens = burst;
  let filledAt = clock.monotonic();
  const take = (): void => {
    if (perSecond <= 0) return;
    tokens = Math.min(burst, tokens + ((clock.monotonic() - filledAt) / 1000) * perSecond);
    filledAt = clock.monotonic();
    if (tokens < 1) throw new PullRateExceeded();
    tokens -= 1;
  };
  const waitForTurn = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(enter);
        reject(signal!.reason as Error);
      };
      const enter = (): void => {
        waiting.delete(enter);
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      signal?.addEventListener("abort", leave, { once: true });
      waiting.add(enter);
    });
  return {
    run: async (pull, signal) => {
      signal?.throwIfAborted();
      if (running >= atOnce) {
        if (waiting.size >= maxWaiting) throw new Error("too many images wait to be pulled");
        await waitForTurn(signal);
      } else running++;
      try {
        // Tokens are taken in turn: a pull that waited for others was slowed down enough.
        take();
        return await pull();
      } finally {
        const [next] = waiting;
        if (next) next();
        else running--;
      }
    },
  };
}
