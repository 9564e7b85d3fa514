// Gives memory back when a program comes to rest: V8 collects what a burst of work left behind only when it
// needs the room, and an agent at rest does not need it for hours.
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
/** Whoever takes more processor time than this in a period is at work. */
const restMilliseconds = 300;
const leastGrowthBytes = 4 << 20;

/** Collects at rest, once for what has grown since the last time, until the signal is aborted. */
export async function returnMemory(options: MemoryReturnOptions, signal: AbortSignal): Promise<void> {
  const { clock, heapBytes, cpuMilliseconds, collect } = options;
  let settled = 0;
  let before = cpuMilliseconds();
  while (!signal.aborted) {
    await clock.sleep(periodMilliseconds, signal).catch(() => undefined);
    const now = cpuMilliseconds();
    const isAtRest = now - before < restMilliseconds;
    before = now;
    if (signal.aborted || !isAtRest || heapBytes() - settled < leastGrowthBytes) continue;
    collect();
    settled = heapBytes();
  }
}

/** What the options are for a program of ours. */
export function ownMemory(clock: Clock): MemoryReturnOptions {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (how: object) => void;
  return {
    clock,
    heapBytes: () => getHeapStatistics().total_heap_size,
    cpuMilliseconds: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    collect: () => collect({ type: "major", flavor: "last-resort" }),
  };
}
