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
  /**
   * The event stream failed: relists once the stream is open again, because there is no event of a change until
   * then; after several failures falls back to the short period.
   */
  streamFailed(): void;
  /** The runtime does not support events. */
  streamEnded(): void;
  /** Schedules the next relist within this time. */
  relistWithin(milliseconds: number): void;
}

const evented = { period: 300_000, threshold: 600_000, retry: 200 };
const generic = { threshold: 180_000 };
const maxFailures = 5;

export function relistPace(clock: Clock, periodMilliseconds: number, byEvents: boolean): RelistPace {
  let isEvented = byEvents;
  let failures = 0;
  /**
   * Time of a requested relist. Survives the current relist: a request during a relist needs another one
   * after it.
   */
  let requestedAt = Infinity;
  let wake = (): void => undefined;
  const scheduleWithin = (milliseconds: number): void => {
    requestedAt = Math.min(requestedAt, clock.monotonic() + milliseconds);
    wake();
  };
  const streamEnded = (): void => {
    if (!isEvented) return;
    isEvented = false;
    scheduleWithin(0);
  };
  return {
    wait: async (signal) => {
      const latest = clock.monotonic() + (isEvented ? evented.period : periodMilliseconds);
      for (;;) {
        const left = Math.min(latest, requestedAt) - clock.monotonic();
        if (signal.aborted || left <= 0) break;
        const woken = Promise.withResolvers<void>();
        wake = () => woken.resolve();
        const cancel = clock.after(left, wake);
        signal.addEventListener("abort", wake, { once: true });
        await woken.promise;
        signal.removeEventListener("abort", wake);
        cancel();
      }
      requestedAt = Infinity;
    },
    thresholdMilliseconds: () => (isEvented ? evented.threshold : generic.threshold),
    slackMilliseconds: () => (isEvented ? evented.period - periodMilliseconds : 0),
    retryMilliseconds: () => (isEvented ? evented.retry : 5 * periodMilliseconds),
    streamFailed: () => {
      if (!isEvented) return;
      failures += 1;
      if (failures >= maxFailures) streamEnded();
      else scheduleWithin(periodMilliseconds);
    },
    streamEnded,
    relistWithin: scheduleWithin,
  };
}
