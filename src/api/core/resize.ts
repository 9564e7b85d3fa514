// Pods whose containers change their resources while they run: what the spec asks for and what the node has
// given can differ for a while.
import { compareQuantity, parseQuantity } from "#base";
import type { Container } from "./container.ts";
import type { Pod } from "./pod.ts";

export type Amounts = Readonly<Record<string, string>>;
/** What a node says of a wanted change; the API server proposes it. */
export const resizeStatuses = ["Proposed", "InProgress", "Deferred", "Infeasible"] as const;
export type ResizeStatus = (typeof resizeStatuses)[number];
/** What of a container may change. */
export const resizable = ["cpu", "memory"] as const;

/** What counts as requested: the larger of spec and allocation, or the allocation when the node can never give more. */
export function countedRequests({ status }: Pick<Pod, "status">, container: Container): Amounts | undefined {
  const asked = container.resources?.requests;
  const statuses = status?.containerStatuses;
  if (!statuses) return asked;
  const allocated = statuses.find(({ name }) => name === container.name)?.allocatedResources;
  if (!allocated) return asked;
  if (status.resize === "Infeasible") return allocated;
  const larger: Record<string, string> = { ...asked };
  for (const [name, amount] of Object.entries(allocated))
    if (larger[name] === undefined || compareQuantity(parseQuantity(amount), parseQuantity(larger[name])) > 0)
      larger[name] = amount;
  return larger;
}

/** Whether two lists of amounts say the same, however they write it. */
export function sameAmounts(one: Amounts | undefined, other: Amounts | undefined): boolean {
  const [a, b] = [Object.entries(one ?? {}), Object.entries(other ?? {})];
  return (
    a.length === b.length &&
    a.every(([name, amount]) => {
      const second = other?.[name];
      return (
        second !== undefined &&
        compareQuantity(parseQuantity(String(amount)), parseQuantity(String(second))) === 0
      );
    })
  );
}
