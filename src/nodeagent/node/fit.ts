// Checks whether a pod's requests fit next to those of the other pods. Amounts are integers: CPU in
// millicores, everything else in units.
import type { Pod } from "#api";
import { podRequests, resourceAmount } from "../plan/pod-resources.ts";

export interface Shortage {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
}

type Amounts = Map<string, number>;

/**
 * Returns the insufficient resources in the order in which they are reported. Extended resources that the
 * node does not have are ignored.
 */
export function shortages(
  pod: Pod,
  others: readonly Pod[],
  allocatable: Readonly<Record<string, string>>,
  isExtended: (resource: string) => boolean,
): Shortage[] {
  const found: Shortage[] = [];
  const capacityOf = (name: string): number => resourceAmount(name, allocatable[name] ?? "0");
  if (others.length + 1 > capacityOf("pods"))
    found.push({ resource: "pods", requested: 1, used: others.length, capacity: capacityOf("pods") });
  const requests = podRequests(pod);
  const used: Amounts = new Map();
  for (const other of others)
    for (const [name, amount] of podRequests(other)) used.set(name, (used.get(name) ?? 0) + amount);
  const plain = ["cpu", "memory", "ephemeral-storage"];
  const names = [
    ...plain.filter((name) => requests.has(name)),
    ...[...requests.keys()].filter((name) => !plain.includes(name)).toSorted(),
  ];
  for (const name of names) {
    const requested = requests.get(name)!;
    if (requested <= 0 || (isExtended(name) && allocatable[name] === undefined)) continue;
    const capacity = capacityOf(name);
    const taken = used.get(name) ?? 0;
    if (requested > capacity - taken) found.push({ resource: name, requested, used: taken, capacity });
  }
  return found;
}
