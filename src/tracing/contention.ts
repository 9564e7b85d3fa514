// Contention for the event loop, the only contended resource in this process. Each delay is time that due
// callbacks had to wait.
import { type StackSample, encodePprof } from "./pprof.ts";

export interface Contention {
  samples(): readonly StackSample[];
  stop(): void;
}

const sampleMilliseconds = 10;
/** Usual delay of timers. */
const timerJitterMilliseconds = 5;
const bounds = [10, 50, 100, 500, 1000, Infinity];

export function watchContention(now: () => number = () => performance.now()): Contention {
  const counts = bounds.map(() => ({ delays: 0, milliseconds: 0 }));
  let expected = now() + sampleMilliseconds;
  const timer = setInterval(() => {
    const at = now();
    const late = at - expected;
    expected = at + sampleMilliseconds;
    if (late < timerJitterMilliseconds) return;
    const found = counts[bounds.findIndex((bound) => late <= bound)]!;
    found.delays++;
    found.milliseconds += late;
  }, sampleMilliseconds);
  timer.unref();
  return {
    samples: () =>
      counts.flatMap(({ delays, milliseconds }, at) =>
        delays === 0
          ? []
          : [
              {
                stack: [
                  { functionName: `delay up to ${bounds[at]} ms`, url: "", lineNumber: 0 },
                  { functionName: "event loop", url: "", lineNumber: 0 },
                ],
                values: [delays, milliseconds * 1e6],
              },
            ],
      ),
    stop: () => clearInterval(timer),
  };
}

/** Encodes the delays so far as a pprof profile of blocking. */
export const contentionPprof = (contention: Contention, at: number): Buffer =>
  encodePprof({
    types: [
      { type: "contentions", unit: "count" },
      { type: "delay", unit: "nanoseconds" },
    ],
    period: { type: "contentions", unit: "count", every: 1 },
    samples: contention.samples(),
    at,
    durationMilliseconds: 0,
  });
