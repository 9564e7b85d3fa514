// How often the runtime is listed: every second, or rarely while its own events are followed instead
// (EventedPLEG). Where those cannot be had, the pace falls back for good, as the kubelet's does.
import type { Clock } from "#base";

export interface RelistPace {
  /** Waits until the next list is due. */
  wait(signal: AbortSignal): Promise<void>;
  /** Without a list for so long nobody knows how pods are. */
  thresholdMilliseconds(): number;
  /** How much later than usual a list may come. */
  slackMilliseconds(): number;
  /** How long to wait before the stream of events is asked for again. */
  retryMilliseconds(): number;
  /** The stream of events broke: the runtime is listed at once, and always often after some of these. */
  streamFailed(): void;
  /** There will be no events. */
  streamEnded(): void;
  /** The next list comes within this time. */
  within(milliseconds: number): void;
}

const rare = { period: 300_000, threshold: 600_000, retry: 200 };
const often = { threshold: 180_000 };
const mostFailures = 5;

export function relistPace(clock: Clock, periodMilliseconds: number, byEvents: boolean): RelistPace {
  let isRare = byEvents;
  let failures = 0;
  /** Kept beyond the wait: what is asked for during a list wants another one behind it. */
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
