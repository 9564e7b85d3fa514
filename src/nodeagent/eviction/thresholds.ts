// Parses and validates the configured eviction thresholds. Percentages are single-precision fractions, like
// in the kubelet.
import { type Quantity, addQuantity, parseDuration, parseQuantity, quantityOf, quantityValue } from "#base";

export const signals = [
  "memory.available",
  "allocatableMemory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "pid.available",
] as const;
export type Signal = (typeof signals)[number];

export type ThresholdValue = { readonly quantity: Quantity } | { readonly percentage: number };

export interface Threshold {
  readonly signal: Signal;
  readonly value: ThresholdValue;
  /** Zero for a hard threshold. */
  readonly graceMilliseconds: number;
  readonly minimumReclaim?: ThresholdValue;
}

type ValuesBySignal = Readonly<Record<string, string>>;

export interface ThresholdSettings {
  readonly hard: ValuesBySignal;
  readonly soft: ValuesBySignal;
  readonly softGrace: ValuesBySignal;
  readonly minimumReclaim: ValuesBySignal;
  /** Whether a limit is enforced for all pods together; it then has a separate memory threshold. */
  readonly enforcePods: boolean;
}

/** Parses the thresholds. Throws on the first invalid entry. */
export function parseThresholds(settings: ThresholdSettings): readonly Threshold[] {
  const hard = parseValues(settings.hard);
  const soft = parseValues(settings.soft);
  const graces = entriesOf(settings.softGrace).map(([signal, text]) => [signal, graceOf(text)] as const);
  const reclaims = new Map(
    entriesOf(settings.minimumReclaim).map(([signal, text]) => [signal, reclaimOf(signal, text)]),
  );
  const graceBySignal = new Map(graces);
  const all = [
    ...hard.map(([signal, value]) => ({ signal, value, graceMilliseconds: 0 })),
    ...soft.map(([signal, value]) => {
      const grace = graceBySignal.get(signal);
      if (grace === undefined)
        throw new Error(`grace period must be specified for the soft eviction threshold ${signal}`);
      return { signal, value, graceMilliseconds: grace };
    }),
  ].map((threshold): Threshold => {
    const minimumReclaim = reclaims.get(threshold.signal);
    return { ...threshold, ...(minimumReclaim && { minimumReclaim }) };
  });
  if (!settings.enforcePods) return all;
  const allocatable = all
    .filter(({ signal, graceMilliseconds }) => signal === "memory.available" && graceMilliseconds === 0)
    .map((threshold): Threshold => ({ ...threshold, signal: "allocatableMemory.available" }));
  return [...all, ...allocatable];
}

/** Returns the amount of a threshold for the given capacity. */
export function thresholdQuantity(value: ThresholdValue, capacity: Quantity): Quantity {
  if ("quantity" in value) return value.quantity;
  const share = Math.trunc(quantityValue(capacity) * value.percentage);
  return quantityOf(Number.isFinite(share) ? share : 0, 0, "BinarySI");
}

/** Returns the amount of a threshold plus its minimum reclaim. */
export function reclaimQuantity({ value, minimumReclaim }: Threshold, capacity: Quantity): Quantity {
  const amount = thresholdQuantity(value, capacity);
  return minimumReclaim ? addQuantity(amount, thresholdQuantity(minimumReclaim, capacity)) : amount;
}

export const isHard = ({ graceMilliseconds }: Threshold): boolean => graceMilliseconds === 0;

function entriesOf(given: ValuesBySignal): [Signal, string][] {
  return Object.entries(given).map(([signal, text]) => {
    if (!signals.includes(signal as Signal)) throw new Error(`unsupported eviction signal ${signal}`);
    return [signal as Signal, text];
  });
}

/** Parses thresholds by signal; 0% and 100% disable a signal. */
function parseValues(given: ValuesBySignal): [Signal, ThresholdValue][] {
  return entriesOf(given)
    .filter(([, text]) => text !== "0%" && text !== "100%")
    .map(([signal, text]) => [signal, thresholdOf(signal, text)]);
}

function thresholdOf(signal: Signal, text: string): ThresholdValue {
  if (text.endsWith("%")) {
    const percentage = percentageOf(text);
    if (percentage < 0) throw new Error(`eviction percentage threshold ${signal} must be >= 0%: ${text}`);
    if (percentage > 1) throw new Error(`eviction percentage threshold ${signal} must be <= 100%: ${text}`);
    return { percentage };
  }
  const quantity = parseQuantity(text);
  if (quantity.value <= 0n) throw new Error(`eviction threshold ${signal} must be positive: ${text}`);
  return { quantity };
}

function reclaimOf(signal: Signal, text: string): ThresholdValue {
  if (text.endsWith("%")) {
    const percentage = percentageOf(text);
    if (percentage <= 0)
      throw new Error(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`);
    return { percentage };
  }
  const quantity = parseQuantity(text);
  if (quantity.value < 0n) throw new Error(`negative eviction minimum reclaim specified for ${signal}`);
  return { quantity };
}

function graceOf(text: string): number {
  const milliseconds = Number(parseDuration(text)) / 1e6;
  if (milliseconds < 0)
    throw new Error(`invalid eviction grace period specified: ${text}, must be a positive value`);
  return milliseconds;
}

const numberText = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)$/i;

function percentageOf(text: string): number {
  const digits = text.replace(/%+$/, "");
  if (!numberText.test(digits)) throw new Error(`${JSON.stringify(text)} is not a percentage`);
  const word = /(inf|nan)/i.exec(digits)?.[1]?.toLowerCase();
  if (word === "nan") return NaN;
  if (word === "inf") return digits.startsWith("-") ? -Infinity : Infinity;
  return Math.fround(Math.fround(Number(digits)) / 100);
}
