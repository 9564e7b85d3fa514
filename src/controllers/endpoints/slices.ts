// Distributes endpoints over slices of limited size with as few writes as possible; a pure function.
import { isDeepStrictEqual } from "node:util";
import type { Endpoint, EndpointSlice } from "#api";
import type { AnyObject } from "#client";
import { withoutUndefined } from "#controllerkit";
import type { ResolvedPort } from "./service-pods.ts";

export type SeenSlice = EndpointSlice & AnyObject;

/** Endpoints that share an address family and ports. */
export interface Desired {
  readonly addressType: string;
  readonly ports: readonly ResolvedPort[];
  readonly endpoints: readonly Endpoint[];
}

/** A slice with the endpoints it should contain. */
interface SliceUpdate {
  readonly slice: SeenSlice;
  readonly endpoints: readonly Endpoint[];
}

export interface SlicePlan {
  readonly create: readonly Desired[];
  readonly update: readonly SliceUpdate[];
  readonly remove: readonly SeenSlice[];
}

const idOf = ({ targetRef, addresses }: Endpoint): string => targetRef?.uid ?? (addresses ?? []).join();
const groupOf = (addressType: string, ports: unknown): string =>
  JSON.stringify([addressType, withoutUndefined(portsOf(ports))]);
const portsOf = (ports: unknown): unknown =>
  ((ports as readonly ResolvedPort[] | null | undefined) ?? [])
    .map(({ name, port, protocol, appProtocol }) => [name, port, protocol, appProtocol ?? ""])
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

export function withoutHint(endpoint: Endpoint): Endpoint {
  const { hints: _, ...rest } = endpoint;
  return rest;
}

/** Removes hints before comparison; they are assigned afterwards. */
const bare = (endpoints: readonly Endpoint[]): unknown => withoutUndefined(endpoints.map(withoutHint));

const isChanged = ({ slice, endpoints }: SliceUpdate): boolean =>
  !isDeepStrictEqual(bare(slice.endpoints ?? []), bare(endpoints));
const fullestFirst = (a: SliceUpdate, b: SliceUpdate): number => b.endpoints.length - a.endpoints.length;

export function planSlices(
  desired: readonly Desired[],
  existing: readonly SeenSlice[],
  maxPerSlice: number,
): SlicePlan {
  const create: Desired[] = [];
  const update: SliceUpdate[] = [];
  const remove: SeenSlice[] = [];
  const groups = new Map(desired.map((each) => [groupOf(each.addressType, each.ports), each]));
  const byGroup = Map.groupBy(existing, ({ addressType, ports }) => groupOf(addressType, ports));
  for (const [key, slices] of byGroup) if (!groups.has(key)) remove.push(...slices);
  for (const [key, { addressType, ports, endpoints }] of groups) {
    const slices = (byGroup.get(key) ?? []).map((slice) => ({ slice, endpoints: [] as Endpoint[] }));
    const remaining = new Map(endpoints.map((endpoint) => [idOf(endpoint), endpoint]));
    for (const each of slices)
      for (const endpoint of each.slice.endpoints ?? []) {
        const wanted = remaining.get(idOf(endpoint));
        if (!wanted) continue;
        remaining.delete(idOf(endpoint));
        each.endpoints.push(wanted);
      }
    const unassigned = [...remaining.values()];
    const changed = slices.filter((each) => each.endpoints.length > 0 && isChanged(each));
    // Slices that must be written anyway are filled up first, fullest first.
    for (const each of changed.toSorted(fullestFirst))
      each.endpoints.push(...unassigned.splice(0, Math.max(0, maxPerSlice - each.endpoints.length)));
    // The rest goes into one unchanged slice if it fits there, which also costs a single write.
    const other = slices
      .filter((each) => !isChanged(each) && each.endpoints.length + unassigned.length <= maxPerSlice)
      .toSorted(fullestFirst)[0];
    if (other && unassigned.length < maxPerSlice) other.endpoints.push(...unassigned.splice(0));
    while (unassigned.length > 0)
      create.push({ addressType, ports, endpoints: unassigned.splice(0, maxPerSlice) });
    if (endpoints.length === 0 && slices.length === 0) create.push({ addressType, ports, endpoints: [] });
    for (const [at, each] of slices.entries()) {
      // A service without endpoints keeps one slice.
      const isKept = each.endpoints.length > 0 || (endpoints.length === 0 && at === 0);
      if (!isKept) remove.push(each.slice);
      else if (isChanged(each)) update.push(each);
    }
  }
  return { create, update, remove };
}
