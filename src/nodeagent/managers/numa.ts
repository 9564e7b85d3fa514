// NUMA node sets as bit masks, and the topology manager's merging of hints.

/** Bit n represents NUMA node n. */
export type NumaMask = number;

/** NUMA nodes from which a resource can be allocated; `undefined` means any. */
export interface TopologyHint {
  readonly nodes: NumaMask | undefined;
  readonly preferred: boolean;
}

/** Hints by resource. Null means no preference; an empty list means that allocation is impossible. */
export type ProviderHints = Readonly<Record<string, readonly TopologyHint[] | null>>;

export const topologyPolicies = ["none", "best-effort", "restricted", "single-numa-node"] as const;
export type TopologyPolicy = (typeof topologyPolicies)[number];

export interface NumaMachine {
  readonly nodes: readonly number[];
  readonly distances: ReadonlyMap<number, readonly number[]>;
  /** Whether to prefer the mask with the smallest distance among masks of the same size. */
  readonly preferClosest: boolean;
}

export interface TopologyChoice {
  readonly hint: TopologyHint;
  readonly admit: boolean;
}

/** Maximum number of NUMA nodes; more would lead to too many combinations. */
export const maxNumaNodes = 8;

export const maskOf = (nodes: Iterable<number>): NumaMask => {
  let mask = 0;
  for (const node of nodes) mask |= 1 << node;
  return mask;
};
export function nodesOf(mask: NumaMask): number[] {
  const nodes: number[] = [];
  for (let node = 0, rest = mask; rest !== 0; node++, rest >>>= 1) if (rest & 1) nodes.push(node);
  return nodes;
}
export const countOf = (mask: NumaMask): number => nodesOf(mask).length;
export const isNarrower = (a: NumaMask, b: NumaMask): boolean =>
  countOf(a) === countOf(b) ? a < b : countOf(a) < countOf(b);

/** Yields every non-empty set of these nodes, smaller ones first, in lexical order within a size. */
export function* everyMask(nodes: readonly number[]): Generator<NumaMask> {
  const choose = function* (at: number, size: number, mask: NumaMask): Generator<NumaMask> {
    if (size === 0) yield mask;
    else
      for (let next = at; next <= nodes.length - size; next++)
        yield* choose(next + 1, size - 1, mask | (1 << nodes[next]!));
  };
  for (let size = 1; size <= nodes.length; size++) yield* choose(0, size, 0);
}

export function chooseTopology(
  policy: TopologyPolicy,
  providers: readonly (ProviderHints | null)[],
  machine: NumaMachine,
): TopologyChoice {
  if (policy === "none") return { hint: { nodes: undefined, preferred: false }, admit: true };
  const all = maskOf(machine.nodes);
  const hints = providers.flatMap(hintLists);
  if (policy !== "single-numa-node") {
    const hint = merge(hints, machine, all, machine.preferClosest);
    return { hint, admit: policy === "best-effort" || hint.preferred };
  }
  const single = hints.map((list) =>
    list.filter(({ nodes, preferred }) => preferred && (nodes === undefined || countOf(nodes) === 1)),
  );
  const merged = merge(single, machine, all, false);
  const hint = merged.nodes === all ? { nodes: undefined, preferred: merged.preferred } : merged;
  return { hint, admit: hint.preferred };
}

const anywhere: TopologyHint = { nodes: undefined, preferred: true };
const nowhere: TopologyHint = { nodes: undefined, preferred: false };

function hintLists(provider: ProviderHints | null): (readonly TopologyHint[])[] {
  const lists = Object.values(provider ?? {});
  if (lists.length === 0) return [[anywhere]];
  return lists.map((hints) => (hints === null ? [anywhere] : hints.length === 0 ? [nowhere] : hints));
}

function merge(
  lists: readonly (readonly TopologyHint[])[],
  machine: NumaMachine,
  all: NumaMask,
  preferClosest: boolean,
): TopologyHint {
  const bestCount = Math.max(0, ...lists.map(narrowestCount));
  const better = (current: TopologyHint, candidate: TopologyHint): TopologyHint =>
    isBetterMask(candidate.nodes!, current.nodes!, machine, preferClosest) ? candidate : current;
  let best: TopologyHint | undefined;
  for (const permutation of permutations(lists)) {
    const merged = mergePermutation(permutation, all);
    if (merged.nodes !== 0) best = best ? compare(best, merged, bestCount, better) : merged;
  }
  return best ?? { nodes: all, preferred: false };
}

function* permutations(
  lists: readonly (readonly TopologyHint[])[],
  at = 0,
  chosen: readonly TopologyHint[] = [],
): Generator<readonly TopologyHint[]> {
  if (at === lists.length) yield chosen;
  else for (const hint of lists[at]!) yield* permutations(lists, at + 1, [...chosen, hint]);
}

function mergePermutation(permutation: readonly TopologyHint[], all: NumaMask): TopologyHint {
  const masks = permutation.flatMap(({ nodes }) => (nodes === undefined ? [] : [nodes]));
  return {
    nodes: masks.reduce((merged, mask) => merged & mask, all),
    preferred: permutation.every((hint) => hint.preferred) && masks.every((mask) => mask === masks[0]),
  };
}

function narrowestCount(hints: readonly TopologyHint[]): number {
  const masks = hints.flatMap(({ nodes }) => (nodes === undefined ? [] : [nodes]));
  const narrowest = masks.reduce<NumaMask | undefined>(
    (found, mask) => (found === undefined || isNarrower(mask, found) ? mask : found),
    undefined,
  );
  return narrowest === undefined ? 0 : countOf(narrowest);
}

/** Prefers a preferred hint, then the one whose size is closest to the minimum that some resource needs. */
function compare(
  current: TopologyHint,
  candidate: TopologyHint,
  bestCount: number,
  better: (current: TopologyHint, candidate: TopologyHint) => TopologyHint,
): TopologyHint {
  if (current.preferred !== candidate.preferred) return current.preferred ? current : candidate;
  if (current.preferred) return better(current, candidate);
  const [own, other] = [countOf(current.nodes!), countOf(candidate.nodes!)];
  if (own > bestCount) return better(current, candidate);
  if (own === bestCount) return other === bestCount ? better(current, candidate) : current;
  if (other > bestCount) return current;
  if (other === bestCount || other > own) return candidate;
  return other < own ? current : better(current, candidate);
}

function isBetterMask(
  candidate: NumaMask,
  current: NumaMask,
  machine: NumaMachine,
  preferClosest: boolean,
): boolean {
  if (candidate === current) return false;
  if (preferClosest && countOf(candidate) === countOf(current)) {
    const [own, other] = [distanceOf(current, machine), distanceOf(candidate, machine)];
    if (own !== other) return other < own;
    return candidate < current;
  }
  return !isNarrower(current, candidate);
}

function distanceOf(mask: NumaMask, { distances }: NumaMachine): number {
  const nodes = nodesOf(mask);
  let sum = 0;
  for (const from of nodes) for (const to of nodes) sum += distances.get(from)?.[to] ?? 0;
  return sum / nodes.length ** 2;
}
