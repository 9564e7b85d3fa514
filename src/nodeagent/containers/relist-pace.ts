// The relist period: one second, or longer while runtime events are received instead (EventedPLEG). If events
// are unavailable, the period falls back for good, like in the kubelet.
import type { Clock } from "#base";

export interface RelistPace {
  /** Waits until the next list is due. */
  wait(signal: AbortSignal): Promise<void>;
  /** Returns the time without a relist after which the pod lifecycle is unhealthy. */
  thresholdMilliseconds(): number;
  /** Returns how much later than usual a relist may be. */
  slackMilliseconds(): number;
  /** Returns the delay before the event stream is reopened. */
  retryMilliseconds(): number;
  /** The event stream failed: relists at once; after several failures falls back to the short period. */
  streamFailed(): void;
  /** The runtime does not support events. */
  streamEnded(): void;
  /** Schedules the next relist within this time. */
  within(milliseconds: number): void;
}

const rare = { period: 300_000, threshold: 600_000, retry: 200 };
const often = { threshold: 180_000 };
const mostFailures = 5;

export function relistPace(clock: Clock, periodMilliseconds: number, byEvents: boolean): RelistPace {
  let isRare = byEvents;
  let failures = 0;
  /**
   * Time of a requested relist. Survives the current relist: a request during a relist needs another one
   * after it.
   */
  let wantedAt = Infinity;
  let wake = (): void => undefined;
  const within = (milliseconds: number): void => {
    wantedAt = Math.min(wantedAt, clock.now() + milliseconds);
    wake();
  };
  const streamEnded = (): void => {
    if (!isRare) return;
    isRare = false;
    within(0);
  };
  return {
    wait: async (signal) => {
      const latest = clock.now() + (isRare ? rare.period : periodMilliseconds);
      for (;;) {
        const left = Math.min(latest, wantedAt) - clock.now();
        if (signal.aborted || left <= 0) break;
        const woken = Promise.withResolvers<void>();
        wake = () => woken.resolve();
        const cancel = clock.after(left, wake);
        signal.addEventListener("abort", wake, { once: true });
        await woken.promise;
        signal.removeEventListener("abort", wake);
        cancel();
      }
      wantedAt = Infinity;
    },
    thresholdMilliseconds: () => (isRare ? rare.threshold : often.threshold),
    slackMilliseconds: () => (isRare ? rare.period - periodMilliseconds : 0),
    retryMilliseconds: () => (isRare ? rare.retry : 5 * periodMilliseconds),
    streamFailed: () => {
      if (!isRare) return;
      failures += 1;
      if (failures >= mostFailures) streamEnded();
      else within(0);
    },
    streamEnded,
    within,
  };
}
