// The state of eviction between passes: since when thresholds are met, and which pressure conditions hold.
// Pure: each set of observations yields the next state.
import { compareQuantity } from "#base";
import type { Observations } from "./observations.ts";
import { type Signal, type Threshold, reclaimQuantity, thresholdQuantity } from "./thresholds.ts";

export type Pressure = "MemoryPressure" | "DiskPressure" | "PIDPressure";

export const pressureOf: Readonly<Record<Signal, Pressure>> = {
  "memory.available": "MemoryPressure",
  "allocatableMemory.available": "MemoryPressure",
  "nodefs.available": "DiskPressure",
  "nodefs.inodesFree": "DiskPressure",
  "imagefs.available": "DiskPressure",
  "imagefs.inodesFree": "DiskPressure",
  "pid.available": "PIDPressure",
};

export interface PressureState {
  readonly firstMetAt: ReadonlyMap<Threshold, number>;
  /** Met thresholds whose grace period has expired. */
  readonly met: readonly Threshold[];
  readonly observedAt: ReadonlyMap<Pressure, number>;
  readonly pressures: readonly Pressure[];
  readonly observations: Observations;
}

export const noPressure: PressureState = {
  firstMetAt: new Map(),
  met: [],
  observedAt: new Map(),
  pressures: [],
  observations: new Map(),
};

export interface PressureRules {
  readonly thresholds: readonly Threshold[];
  readonly transitionMilliseconds: number;
}

export interface PressurePass {
  readonly state: PressureState;
  /** Thresholds to reclaim for, memory first; may be empty. */
  readonly reclaim: readonly Threshold[];
}

export function nextPressure(
  before: PressureState,
  { thresholds, transitionMilliseconds }: PressureRules,
  observations: Observations,
  now: number,
): PressurePass {
  const met = metThresholds(thresholds, observations, false);
  // A met threshold stays met until its minimum reclaim is available as well.
  for (const threshold of metThresholds(before.met, observations, true))
    if (!met.includes(threshold)) met.push(threshold);
  const firstMetAt = new Map(met.map((one) => [one, before.firstMetAt.get(one) ?? now]));
  // Current pressures come first: this is the order in messages to users.
  const observedAt = new Map<Pressure, number>(met.map(({ signal }) => [pressureOf[signal], now]));
  for (const [type, at] of before.observedAt) if (!observedAt.has(type)) observedAt.set(type, at);
  const due = met.filter((one) => now - firstMetAt.get(one)! >= one.graceMilliseconds);
  const state: PressureState = {
    firstMetAt,
    met: due,
    observedAt,
    pressures: [...observedAt].filter(([, at]) => now - at < transitionMilliseconds).map(([type]) => type),
    observations,
  };
  const fresh = due.filter(({ signal }) => {
    const last = before.observations.get(signal);
    return !last || observations.get(signal)!.at > last.at;
  });
  return { state, reclaim: [...fresh.filter(isOfMemory), ...fresh.filter((one) => !isOfMemory(one))] };
}

/** Returns the thresholds that are met, regardless of their grace periods. */
export function metThresholds(
  thresholds: readonly Threshold[],
  observations: Observations,
  withReclaim: boolean,
): Threshold[] {
  return thresholds.filter((threshold) => {
    const observed = observations.get(threshold.signal);
    if (!observed) return false;
    const amount = withReclaim
      ? reclaimQuantity(threshold, observed.capacity)
      : thresholdQuantity(threshold.value, observed.capacity);
    return compareQuantity(amount, observed.available) > 0;
  });
}

const isOfMemory = ({ signal }: Threshold): boolean => pressureOf[signal] === "MemoryPressure";

/**
 * Reports whether dead containers and unused images are removed before pods are evicted: only if they are on
 * the file system of the signal.
 */
export const reclaimsImages = (signal: Signal, dedicatedImageFs: boolean): boolean =>
  pressureOf[signal] === "DiskPressure" && (!dedicatedImageFs || signal.startsWith("imagefs."));
