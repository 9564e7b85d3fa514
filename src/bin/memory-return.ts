// Gives memory back when a program comes to rest: V8 collects what a start or a burst of work left behind only
// when it needs the room, and a program at rest does not need it for hours.
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "#base";

export interface MemoryReturnOptions {
  readonly clock: Clock;
  /** The heap as the system sees it, garbage included. */
  readonly heapBytes: () => number;
  /** Processor time of the program so far. */
  readonly cpuMilliseconds: () => number;
  readonly collect: () => void;
}

const periodMilliseconds = 10_000;
/** A start leaves most behind, and is soon over. */
const firstPeriodMilliseconds = 2000;
/** Whoever takes more processor time than this in a period is at work. */
const restMilliseconds = 300;
const leastGrowthBytes = 4 << 20;
/** A larger heap takes so long to collect that whoever asks the program meanwhile would notice. */
const largestHeapBytes = 160 << 20;

/** Collects at rest, once for what has grown since the last time, until the signal is aborted. */
export async function returnMemory(options: MemoryReturnOptions, signal: AbortSignal): Promise<void> {
  const { clock, heapBytes, cpuMilliseconds, collect } = options;
  let settled = 0;
  let isStarting = true;
  let before = cpuMilliseconds();
  while (!signal.aborted) {
    const period = isStarting ? firstPeriodMilliseconds : periodMilliseconds;
    await clock.sleep(period, signal).catch(() => undefined);
    const now = cpuMilliseconds();
    const isAtRest = now - before < restMilliseconds;
    before = now;
    const heap = heapBytes();
    const isWorthIt = heap - settled >= leastGrowthBytes && heap <= largestHeapBytes;
    if (signal.aborted || !isAtRest || !isWorthIt) continue;
    collect();
    // Soon after a start some of it is still in use, so the next rest counts in any case.
    if (!isStarting) settled = heapBytes();
    isStarting = false;
  }
}

/** What the options are for a program of ours. */
export function ownMemory(clock: Clock): MemoryReturnOptions {
  return {
    clock,
    heapBytes: () => getHeapStatistics().total_heap_size,
    cpuMilliseconds: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    collect: () => {
      setFlagsFromString("--expose-gc");
      const collect = runInNewContext("gc") as (how: object) => void;
      collect({ type: "major", flavor: "last-resort" });
    },
  };
}
