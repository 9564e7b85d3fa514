// Topology hints: assigns endpoints to zones so that traffic stays within its zone and each zone gets
// endpoints in proportion to its nodes' CPU. Pure functions over a slice plan.
import type { Endpoint, Node } from "#api";
import { parseQuantity, quantityMilliValue } from "#base";
import { type SeenSlice, type SlicePlan, withoutHint } from "./slices.ts";

/** The share of each zone in the cluster's CPU; undefined if a node lacks its zone or CPU. */
export type ZoneShares = ReadonlyMap<string, number>;

export interface HintOutcome {
  readonly plan: SlicePlan;
  /** Number of endpoints allocated to each zone, or the reason why there are no hints. */
  readonly allocated: ReadonlyMap<string, number> | string;
}

/** Maximum overload: how much an endpoint's traffic may exceed its share. */
const overload = 0.2;

interface Labels {
  readonly zone: string;
  readonly controlPlaneRole: string;
  readonly nodeRolePrefix: string;
}

export const isNodeReady = ({ status }: Pick<Node, "status">): boolean =>
  status.conditions?.find(({ type }) => type === "Ready")?.status === "True";

export function zoneShares(nodes: Iterable<Node>, labels: Labels): ZoneShares | undefined {
  const cpu = new Map<string, number>();
  for (const node of nodes) {
    const nodeLabels = node.metadata.labels ?? {};
    if (
      nodeLabels[labels.controlPlaneRole] !== undefined ||
      nodeLabels[`${labels.nodeRolePrefix}master`] !== undefined
    )
      continue;
    if (!isNodeReady(node)) continue;
    const amount = quantityMilliValue(parseQuantity(String(node.status.allocatable?.["cpu"] ?? "0")));
    const zone = nodeLabels[labels.zone];
    if (!zone || amount === 0) return undefined;
    cpu.set(zone, (cpu.get(zone) ?? 0) + amount);
  }
  if (cpu.size < 2) return undefined;
  const total = [...cpu.values()].reduce((sum, each) => sum + each, 0);
  return new Map([...cpu].map(([zone, amount]) => [zone, amount / total]));
}

/**
 * Reports whether some zone has fewer endpoints than its CPU share requires, so that hints must be
 * recomputed.
 */
export function isOverloaded(
  allocated: ReadonlyMap<string, number>,
  shares: ZoneShares | undefined,
): boolean {
  if (allocated.size === 0) return false;
  if (!shares) return true;
  const total = [...allocated.values()].reduce((sum, each) => sum + each, 0);
  return [...shares].some(([zone, share]) => {
    const zoneCount = allocated.get(zone);
    return zoneCount === undefined || zoneCount < Math.ceil((total * share) / (1 + overload));
  });
}

interface Allocation {
  readonly minimum: number;
  readonly maximum: number;
  readonly desired: number;
}

function allocationsFor(count: number, shares: ZoneShares | undefined): Map<string, Allocation> | string {
  if (!shares)
    return "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";
  const numbers = `(${count} endpoints, ${shares.size} zones)`;
  if (shares.size > count) return `Insufficient number of endpoints ${numbers}`;
  const wanted = [...shares].map(([zone, share]) => {
    const minimum = Math.ceil((share * count) / (1 + overload));
    return { zone, minimum, desired: Math.max(share * count, minimum) };
  });
  const totalMinimum = wanted.reduce((sum, { minimum }) => sum + minimum, 0);
  if (totalMinimum > count)
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${numbers}`;
  return new Map(
    wanted.map(({ zone, minimum, desired }) => [
      zone,
      { minimum, maximum: minimum + count - totalMinimum, desired },
    ]),
  );
}

const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready ?? false;

/**
 * Adds hints to a plan. Slices that are not rewritten anyway keep their hints while these are still valid.
 */
export function withHints(
  plan: SlicePlan,
  existing: readonly SeenSlice[],
  shares: ZoneShares | undefined,
): HintOutcome {
  const unchanged = unchangedSlices(plan, existing);
  const count = [...plan.create, ...plan.update, ...unchanged]
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(isReady).length;
  const allocations = allocationsFor(count, shares);
  if (typeof allocations === "string") return { plan: withoutHints(plan, existing), allocated: allocations };
  const allocated = new Map<string, number>();
  const rewritten = unchanged.filter((slice) => !keepHints(slice, allocated, allocations));
  const lists = [
    ...plan.create.map(({ endpoints }) => endpoints),
    ...plan.update.map(({ endpoints }) => endpoints),
    ...rewritten.map(({ endpoints }) => endpoints ?? []),
  ];
  const hinted = hintedLists(lists, allocated, allocations);
  if (!hinted)
    return {
      plan: withoutHints(plan, existing),
      allocated: "One or more endpoints do not have a zone specified",
    };
  const hintedIterator = hinted.values();
  const next = (): readonly Endpoint[] => hintedIterator.next().value!;
  return {
    plan: {
      create: plan.create.map((each) => ({ ...each, endpoints: next() })),
      update: [
        ...plan.update.map((each) => ({ ...each, endpoints: next() })),
        ...rewritten.map((slice) => ({ slice, endpoints: next() })),
      ],
      remove: plan.remove,
    },
    allocated: allocated.size > 0 ? allocated : "No hints allocated for zones",
  };
}

/** Returns the plan with every ready endpoint hinted for its own zone, also in slices that are unchanged. */
export function withOwnZones(plan: SlicePlan, existing: readonly SeenSlice[]): SlicePlan {
  const hinted = (endpoints: readonly Endpoint[]): Endpoint[] =>
    endpoints.map((each) =>
      isReady(each) ? { ...each, hints: { forZones: [{ name: each.zone ?? "" }] } } : each,
    );
  const isWrong = (endpoint: Endpoint): boolean => {
    const [zone, ...more] = endpoint.hints?.forZones ?? [];
    return isReady(endpoint) && (zone?.name !== (endpoint.zone ?? "") || more.length > 0);
  };
  const wrong = unchangedSlices(plan, existing).filter(({ endpoints }) => endpoints?.some(isWrong));
  return {
    create: plan.create.map((each) => ({ ...each, endpoints: hinted(each.endpoints) })),
    update: [
      ...plan.update.map((each) => ({ ...each, endpoints: hinted(each.endpoints) })),
      ...wrong.map((slice) => ({ slice, endpoints: hinted(slice.endpoints ?? []) })),
    ],
    remove: plan.remove,
  };
}

/** Returns the plan without hints, also rewriting unchanged slices that have some. */
export function withoutHints(plan: SlicePlan, existing: readonly SeenSlice[]): SlicePlan {
  const bare = (endpoints: readonly Endpoint[]): Endpoint[] => endpoints.map(withoutHint);
  const hinted = unchangedSlices(plan, existing).filter(({ endpoints }) =>
    endpoints?.some(({ hints }) => hints),
  );
  return {
    create: plan.create.map((each) => ({ ...each, endpoints: bare(each.endpoints) })),
    update: [
      ...plan.update.map((each) => ({ ...each, endpoints: bare(each.endpoints) })),
      ...hinted.map((slice) => ({ slice, endpoints: bare(slice.endpoints ?? []) })),
    ],
    remove: plan.remove,
  };
}

function unchangedSlices({ update, remove }: SlicePlan, existing: readonly SeenSlice[]): SeenSlice[] {
  const changed = new Set([...update.map(({ slice }) => slice), ...remove]);
  return existing.filter((slice) => !changed.has(slice));
}

/**
 * Counts the hints of a slice and reports whether it may keep them: none is missing, and no zone exceeds its
 * maximum.
 */
function keepHints(
  { endpoints }: SeenSlice,
  allocated: Map<string, number>,
  allocations: ReadonlyMap<string, Allocation>,
): boolean {
  const zoneCounts = new Map<string, number>();
  for (const endpoint of (endpoints ?? []).filter(isReady)) {
    const zones = (endpoint.hints?.forZones ?? []).map(({ name }) => name);
    if (zones.length === 0 || zones.some((zone) => !allocations.has(zone))) return false;
    for (const zone of zones) zoneCounts.set(zone, (zoneCounts.get(zone) ?? 0) + 1);
  }
  if (
    [...zoneCounts].some(
      ([zone, count]) => count + (allocated.get(zone) ?? 0) > allocations.get(zone)!.maximum,
    )
  )
    return false;
  for (const [zone, count] of zoneCounts) allocated.set(zone, (allocated.get(zone) ?? 0) + count);
  return true;
}

/**
 * Assigns every endpoint to its own zone first, then moves endpoints from zones with a surplus to zones with
 * a deficit.
 */
function hintedLists(
  lists: readonly (readonly Endpoint[])[],
  allocated: Map<string, number>,
  allocations: ReadonlyMap<string, Allocation>,
): readonly (readonly Endpoint[])[] | undefined {
  const add = (zone: string, count: number): void =>
    void allocated.set(zone, (allocated.get(zone) ?? 0) + count);
  for (const endpoint of lists.flat().filter(isReady)) {
    if (!endpoint.zone) return undefined;
    add(endpoint.zone, 1);
  }
  const { giving, receiving } = transfers(allocations, allocated);
  return lists.map((endpoints) =>
    endpoints.map(withoutHint).map((endpoint) => {
      if (!isReady(endpoint)) return endpoint;
      const ownZone = endpoint.zone!;
      const receiver =
        (giving.get(ownZone) ?? 0) > 0 ? [...receiving].find(([, count]) => count > 0) : undefined;
      if (!receiver) return { ...endpoint, hints: { forZones: [{ name: ownZone }] } };
      const [zone, count] = receiver;
      giving.set(ownZone, giving.get(ownZone)! - 1);
      receiving.set(zone, count - 1);
      add(ownZone, -1);
      add(zone, 1);
      return { ...endpoint, hints: { forZones: [{ name: zone }] } };
    }),
  );
}

/** Computes how many endpoints zones give and receive, largest differences first. */
function transfers(
  allocations: ReadonlyMap<string, Allocation>,
  allocated: ReadonlyMap<string, number>,
): { readonly giving: Map<string, number>; readonly receiving: Map<string, number> } {
  const surplus = new Map<string, number>();
  const deficit = new Map<string, number>();
  for (const [zone, { desired }] of allocations) {
    const difference = (allocated.get(zone) ?? 0) - desired;
    if (difference > 0) surplus.set(zone, difference);
    else if (difference < 0) deficit.set(zone, -difference);
  }
  const giving = new Map<string, number>();
  const receiving = new Map<string, number>();
  for (;;) {
    const giver = largest(surplus);
    const receiver = largest(deficit);
    if (!giver || !receiver) break;
    if ((giver[1] < 1 && receiver[1] < 1) || giver[1] < 0.5 || receiver[1] < 0.5) break;
    for (const [[zone, amount], left, moved] of [
      [giver, surplus, giving],
      [receiver, deficit, receiving],
    ] as const) {
      left.set(zone, amount - 1);
      moved.set(zone, (moved.get(zone) ?? 0) + 1);
    }
  }
  return { giving, receiving };
}

function largest(amounts: ReadonlyMap<string, number>): readonly [string, number] | undefined {
  let found: readonly [string, number] | undefined;
  for (const each of amounts) if (each[1] > (found?.[1] ?? 0)) found = each;
  return found;
}
