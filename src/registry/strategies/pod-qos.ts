// Quality-of-service classes of pods.
import type { PodSpec } from "#api";
import { type Quantity, addQuantity, compareQuantity, parseQuantity, quantityOf } from "#base";

export type QualityOfService = "Guaranteed" | "Burstable" | "BestEffort";

const measured = ["cpu", "memory"] as const;
const zero = quantityOf(0);

/**
 * Returns Guaranteed when every container limits both resources and requests the same amounts, BestEffort
 * when no container sets either.
 */
export function qualityOf({ containers, initContainers }: PodSpec): QualityOfService {
  const [requests, limits] = [new Map<string, Quantity>(), new Map<string, Quantity>()];
  let guaranteed = true;
  const count = (
    totals: Map<string, Quantity>,
    amounts: Readonly<Record<string, string>> | undefined,
  ): number => {
    let found = 0;
    for (const name of measured) {
      const amount = amounts?.[name] === undefined ? zero : parseQuantity(amounts[name]);
      if (compareQuantity(amount, zero) <= 0) continue;
      found++;
      totals.set(name, addQuantity(totals.get(name) ?? zero, amount));
    }
    return found;
  };
  for (const { resources } of [...(containers ?? []), ...(initContainers ?? [])]) {
    count(requests, resources.requests);
    if (count(limits, resources.limits) < measured.length) guaranteed = false;
  }
  if (requests.size === 0 && limits.size === 0) return "BestEffort";
  const alike = [...requests].every(
    ([name, amount]) => limits.has(name) && compareQuantity(limits.get(name)!, amount) === 0,
  );
  return guaranteed && alike && requests.size === limits.size ? "Guaranteed" : "Burstable";
}
