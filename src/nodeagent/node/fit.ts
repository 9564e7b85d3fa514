// Whether a pod's requests fit beside those of others. Amounts are whole numbers: cpu in thousandths,
// everything else in units.
import type { Container, Pod } from "#api";
import { parseQuantity, quantityMilliValue, quantityValue } from "#base";
import { containersOf, initContainersOf } from "../pod.ts";

export interface Shortage {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
}

type Amounts = Map<string, number>;

const amountOf = (name: string, amount: string): number =>
  name === "cpu" ? quantityMilliValue(parseQuantity(amount)) : quantityValue(parseQuantity(amount));

/**
 * What a pod asks for: its containers together, or its greatest init container, and what running it costs
 * besides.
 */
export function requestsOf(pod: Pod): Amounts {
  const total: Amounts = new Map();
  const each = (container: Container, put: (name: string, amount: number) => void): void => {
    for (const [name, amount] of Object.entries(container.resources?.requests ?? {}))
      put(name, amountOf(name, amount));
  };
  for (const container of containersOf(pod))
    each(container, (name, amount) => total.set(name, (total.get(name) ?? 0) + amount));
  for (const container of initContainersOf(pod))
    each(container, (name, amount) => total.set(name, Math.max(total.get(name) ?? 0, amount)));
  for (const [name, amount] of Object.entries(pod.spec.overhead ?? {}))
    total.set(name, (total.get(name) ?? 0) + amountOf(name, amount));
  return total;
}

/**
 * What the pod lacks, in the order in which it is told. Resources outside the product's domain that the node
 * does not know are not its business.
 */
export function shortages(
  pod: Pod,
  others: readonly Pod[],
  allocatable: Readonly<Record<string, string>>,
  isForeign: (resource: string) => boolean,
): Shortage[] {
  const found: Shortage[] = [];
  const capacityOf = (name: string): number => amountOf(name, allocatable[name] ?? "0");
  if (others.length + 1 > capacityOf("pods"))
    found.push({ resource: "pods", requested: 1, used: others.length, capacity: capacityOf("pods") });
  const asked = requestsOf(pod);
  const used: Amounts = new Map();
  for (const other of others)
    for (const [name, amount] of requestsOf(other)) used.set(name, (used.get(name) ?? 0) + amount);
  const plain = ["cpu", "memory", "ephemeral-storage"];
  const names = [
    ...plain.filter((name) => asked.has(name)),
    ...[...asked.keys()].filter((name) => !plain.includes(name)).toSorted(),
  ];
  for (const name of names) {
    const requested = asked.get(name)!;
    if (requested <= 0 || (isForeign(name) && allocatable[name] === undefined)) continue;
    const capacity = capacityOf(name);
    const taken = used.get(name) ?? 0;
    if (requested > capacity - taken) found.push({ resource: name, requested, used: taken, capacity });
  }
  return found;
}
