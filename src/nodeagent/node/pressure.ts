// Whether the node runs short of memory, disk or process numbers, by its hard thresholds. A pressure ends
// only when it was away for a while.
import { thresholdValue } from "./capacity.ts";

/** What is left and what there is of it, by the signal's name. */
export type Signals = Readonly<Record<string, { readonly available: number; readonly capacity: number }>>;

export interface Pressures {
  readonly memoryPressure: boolean;
  readonly diskPressure: boolean;
  readonly pidPressure: boolean;
}

const conditionOf: Readonly<Record<string, keyof Pressures>> = {
  "memory.available": "memoryPressure",
  "allocatableMemory.available": "memoryPressure",
  "nodefs.available": "diskPressure",
  "nodefs.inodesFree": "diskPressure",
  "imagefs.available": "diskPressure",
  "imagefs.inodesFree": "diskPressure",
  "pid.available": "pidPressure",
};

/** Judges one reading after the other. */
export function pressureGauge(
  thresholds: Readonly<Record<string, string>>,
  transitionMilliseconds: number,
): (signals: Signals, now: number) => Pressures {
  const lastSeen = new Map<keyof Pressures, number>();
  return (signals, now) => {
    for (const [signal, threshold] of Object.entries(thresholds)) {
      const reading = signals[signal];
      const condition = conditionOf[signal];
      // A file system without a count of inodes has no shortage of them.
      if (!reading || !condition || reading.capacity === 0) continue;
      const least = thresholdValue(threshold, reading.capacity);
      if (least !== undefined && reading.available < least) lastSeen.set(condition, now);
    }
    const isOn = (condition: keyof Pressures): boolean =>
      now - (lastSeen.get(condition) ?? -Infinity) <= transitionMilliseconds;
    return {
      memoryPressure: isOn("memoryPressure"),
      diskPressure: isOn("diskPressure"),
      pidPressure: isOn("pidPressure"),
    };
  };
}
