// In-place resizing of running containers: the resources in the spec and those allocated by the node may
// differ for a while.
import { compareQuantity, parseQuantity } from "#base";
import type { Container } from "./container.ts";
import type { Pod } from "./pod.ts";

export type Amounts = Readonly<Record<string, string>>;
/** Status of a requested resize; `Proposed` is set by the API server, the others by the node. */
export const resizeStatuses = ["Proposed", "InProgress", "Deferred", "Infeasible"] as const;
export type ResizeStatus = (typeof resizeStatuses)[number];
/** The resources of a container that can be resized. */
export const resizable = ["cpu", "memory"] as const;

/**
 * Returns the requests that count: the larger of spec and allocation, or the allocation if the node can never
 * grant more.
 */
export function effectiveRequests(
  { status }: Pick<Pod, "status">,
  container: Container,
): Amounts | undefined {
  const requested = container.resources?.requests;
  const statuses = status?.containerStatuses;
  if (!statuses) return requested;
  const allocated = statuses.find(({ name }) => name === container.name)?.allocatedResources;
  if (!allocated) return requested;
  if (status.resize === "Infeasible") return allocated;
  const larger: Record<string, string> = { ...requested };
  for (const [name, amount] of Object.entries(allocated))
    if (larger[name] === undefined || compareQuantity(parseQuantity(amount), parseQuantity(larger[name])) > 0)
      larger[name] = amount;
  return larger;
}

/** Reports whether two resource lists are equal, regardless of spelling. */
export function equalResources(one: Amounts | undefined, other: Amounts | undefined): boolean {
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
