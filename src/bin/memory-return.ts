// Returns memory when a program becomes idle: V8 collects garbage of a start or a burst only when it needs
// the space, which may not happen for hours in an idle program.
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "#base";

export interface MemoryReturnOptions {
  readonly clock: Clock;
  /** Returns the size of the heap as seen by the system, including garbage. */
  readonly heapBytes: () => number;
  /** Returns the CPU time the program has used so far. */
  readonly cpuMilliseconds: () => number;
  readonly collect: () => void;
}

/** A program that uses more CPU time than this in a period is busy. */
interface Period {
  readonly milliseconds: number;
  readonly idleMilliseconds: number;
}

const regularPeriod: Period = { milliseconds: 10_000, idleMilliseconds: 300 };
/** A start leaves most garbage and is soon over. */
const firstPeriod: Period = { milliseconds: 500, idleMilliseconds: 75 };
const minGrowthBytes = 4 << 20;
/** Collecting a heap of this size would cause a noticeable pause. */
const maxHeapBytes = 160 << 20;
/** CPU time of a noticeable pause. A heap of many small objects causes one although it is not large. */
const pauseMilliseconds = 500;

/**
 * Collects garbage whenever the program is idle and the heap has grown since the last collection, until the
 * signal aborts.
 */
export async function returnMemory(options: MemoryReturnOptions, signal: AbortSignal): Promise<void> {
  const { clock, heapBytes, cpuMilliseconds, collect } = options;
  let heapAfterCollection = 0;
  let maxBytes = maxHeapBytes;
  let isStarting = true;
  let before = cpuMilliseconds();
  while (!signal.aborted) {
    const period = isStarting ? firstPeriod : regularPeriod;
    await clock.sleep(period.milliseconds, signal).catch(() => undefined);
    const now = cpuMilliseconds();
    const isIdle = now - before < period.idleMilliseconds;
    before = now;
    const heap = heapBytes();
    const isWorthIt = heap - heapAfterCollection >= minGrowthBytes && heap < maxBytes;
    if (signal.aborted || !isIdle || !isWorthIt) continue;
    collect();
    if (cpuMilliseconds() - now > pauseMilliseconds) maxBytes = Math.min(maxBytes, heapBytes());
    // Soon after the start some of it is still in use, so the next idle period triggers a collection in any
    // case.
    if (!isStarting) heapAfterCollection = heapBytes();
    isStarting = false;
  }
}

/** Returns the options for the current process. */
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
