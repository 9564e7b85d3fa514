// The node's capacity, and its allocatable resources: capacity minus reservations and hard eviction
// thresholds.
import {
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  quantityOf,
  quantityValue,
  type Quantity,
  subtractQuantity,
} from "#base";
import type { Machine } from "../resources/machine.ts";

export type Amounts = Readonly<Record<string, string>>;

export interface CapacityRules {
  readonly maxPods: number;
  /** 0 means unlimited. */
  readonly podsPerCore: number;
  /** Absent if local storage is not accounted for. */
  readonly localStorageBytes?: number;
}

export function capacityOf(machine: Machine, rules: CapacityRules): Amounts {
  const pods =
    rules.podsPerCore > 0 ? Math.min(rules.maxPods, rules.podsPerCore * machine.cpus) : rules.maxPods;
  const amounts: Record<string, string> = {
    cpu: formatQuantity(quantityOf(machine.cpus)),
    memory: bytes(machine.memoryBytes),
    pods: String(pods),
  };
  if (rules.localStorageBytes !== undefined) amounts["ephemeral-storage"] = bytes(rules.localStorageBytes);
  for (const { pageBytes, count } of machine.hugepages)
    amounts[`hugepages-${bytes(pageBytes)}`] = bytes(pageBytes * count);
  return amounts;
}

const bytes = (count: number): string => formatQuantity(quantityOf(count, 0, "BinarySI"));
const zero = quantityOf(0);

/** Returns capacity minus all reserved amounts and, for memory and local storage, the hard thresholds. */
export function allocatableOf(
  capacity: Amounts,
  reserved: readonly Amounts[],
  hardThresholds: Amounts,
): Amounts {
  const kept = [...reserved, thresholdAmounts(capacity, hardThresholds)];
  const left = new Map<string, Quantity>();
  for (const [name, amount] of Object.entries(capacity)) {
    const taken = kept.reduce(
      (sum, one) => (one[name] === undefined ? sum : addQuantity(sum, parseQuantity(one[name]))),
      zero,
    );
    left.set(name, atLeastZero(subtractQuantity(parseQuantity(amount), taken)));
  }
  const memory = left.get("memory");
  if (memory) {
    const pages = Object.entries(capacity).filter(([name]) => name.startsWith("hugepages-"));
    left.set(
      "memory",
      atLeastZero(pages.reduce((sum, [, amount]) => subtractQuantity(sum, parseQuantity(amount)), memory)),
    );
  }
  return Object.fromEntries([...left].map(([name, amount]) => [name, formatQuantity(amount)]));
}

/** Returns an error text if more of a resource is reserved than the node's capacity; undefined otherwise. */
export function reservationProblem(
  capacity: Amounts,
  reserved: readonly Amounts[],
  hardThresholds: Amounts,
): string | undefined {
  const kept = [...reserved, thresholdAmounts(capacity, hardThresholds)];
  const problems = Object.entries(capacity).flatMap(([name, amount]) => {
    const taken = kept.reduce((sum, one) => addQuantity(sum, parseQuantity(one[name] ?? "0")), zero);
    return compareQuantity(taken, parseQuantity(amount)) > 0
      ? [`${formatQuantity(taken)} of ${JSON.stringify(name)} are reserved, the node has ${amount}`]
      : [];
  });
  return problems.length > 0 ? `invalid Node Allocatable configuration: ${problems.join("; ")}` : undefined;
}

/** Returns the reserved resources. A non-zero number of reserved CPUs replaces all CPU amounts. */
export function reservations(amounts: readonly Amounts[], reservedCpus: number): Amounts[] {
  if (reservedCpus === 0) return [...amounts];
  return [
    ...amounts.map((one) => Object.fromEntries(Object.entries(one).filter(([name]) => name !== "cpu"))),
    { cpu: String(reservedCpus) },
  ];
}

/** Returns the process IDs that pods may use in total: the kernel's maximum minus those reserved. */
export function allocatablePids(maxPids: number, reserved: readonly Amounts[]): Amounts {
  const taken = reserved.reduce((sum, { pid = "0" }) => sum + quantityValue(parseQuantity(pid)), 0);
  return { pid: String(Math.max(1, maxPids - taken)) };
}

const atLeastZero = (amount: Quantity): Quantity =>
  compareQuantity(amount, zero) < 0 ? { ...zero, format: amount.format } : amount;

const reservedBy: Readonly<Record<string, string>> = {
  "memory.available": "memory",
  "nodefs.available": "ephemeral-storage",
};

function thresholdAmounts(capacity: Amounts, thresholds: Amounts): Amounts {
  const amounts: Record<string, string> = {};
  for (const [signal, threshold] of Object.entries(thresholds)) {
    const name = reservedBy[signal];
    if (name === undefined || capacity[name] === undefined) continue;
    const value = thresholdValue(threshold, quantityValue(parseQuantity(capacity[name])));
    if (value !== undefined) amounts[name] = bytes(value);
  }
  return amounts;
}

/**
 * Evaluates a threshold, which may be a percentage of `whole`; returns undefined if the signal is disabled.
 */
export function thresholdValue(threshold: string, whole: number): number | undefined {
  if (!threshold.endsWith("%")) return quantityValue(parseQuantity(threshold));
  const percent = Number(threshold.slice(0, -1));
  // The kubelet computes the fraction in single precision.
  return percent === 0 || percent === 100 ? undefined : Math.trunc(whole * Math.fround(percent / 100));
}
