// Chooses the exclusive CPUs of a container: packed, i.e. whole NUMA nodes, sockets and cores first to share
// as little as possible, or distributed evenly across NUMA nodes. The algorithm is that of the kubelet's CPU
// manager.
import { type CpuSet, noCpus, sortedCpus } from "./cpu-set.ts";
import { type CpuTopology, type TopologyLevel, cpusIn, idsOf } from "./cpu-topology.ts";

/** Takes `count` CPUs, packed. Throws if there are too few. */
export function takePacked(topology: CpuTopology, available: CpuSet, count: number): CpuSet {
  if (count < 1) return noCpus;
  const accumulator = accumulatorOf(topology, available, count);
  if (count > accumulator.free().size) throw new Error("not enough cpus available to satisfy request");
  const levels: TopologyLevel[] = numaFirst(topology) ? ["numaNode", "socket"] : ["socket", "numaNode"];
  for (const level of [...levels, "core"] as const) {
    accumulator.takeWhole(level);
    if (accumulator.needed() === 0) return accumulator.taken();
  }
  accumulator.takeSingle();
  return accumulator.taken();
}

const numaFirst = ({ sockets, numaNodes }: CpuTopology): boolean => sockets >= numaNodes.length;

interface Accumulator {
  readonly free: () => CpuSet;
  readonly taken: () => CpuSet;
  readonly needed: () => number;
  takeWhole(level: TopologyLevel): void;
  takeSingle(): void;
}

function accumulatorOf(topology: CpuTopology, available: CpuSet, count: number): Accumulator {
  let free = available.intersection(topology.cpus) as CpuSet;
  let taken: CpuSet = noCpus;
  let needed = count;
  const take = (cpus: CpuSet): void => {
    taken = taken.union(cpus);
    free = free.difference(cpus);
    needed -= cpus.size;
  };
  return {
    free: () => free,
    taken: () => taken,
    needed: () => needed,
    takeWhole: (level) => {
      const size = (id: number): number =>
        level === "socket"
          ? topology.cpusPerSocket
          : level === "core"
            ? topology.cpusPerCore
            : cpusIn(topology, topology.cpus, level, new Set([id])).size;
      const whole = sortedIds(topology, free, level).filter(
        (id) => cpusIn(topology, free, level, new Set([id])).size === size(id),
      );
      for (const id of whole) {
        const cpus = cpusIn(topology, topology.cpus, level, new Set([id]));
        if (needed >= cpus.size) take(cpus);
      }
    },
    takeSingle: () => {
      for (const core of sortedIds(topology, free, "core"))
        for (const cpu of sortedCpus(cpusIn(topology, free, "core", new Set([core])))) {
          if (needed === 0) return;
          take(new Set([cpu]));
        }
    },
  };
}

/**
 * Returns the IDs of a level, those with the fewest free CPUs first, within the order of the levels above.
 */
function sortedIds(topology: CpuTopology, free: CpuSet, level: TopologyLevel): number[] {
  const upper: TopologyLevel[] = numaFirst(topology) ? ["numaNode", "socket"] : ["socket", "numaNode"];
  const at = level === "core" ? 2 : upper.indexOf(level);
  const within = (cpus: CpuSet, depth: number): number[] => {
    const current = depth === at ? level : upper[depth]!;
    const ids = [...idsOf(topology, cpus, current)];
    // The size counts all free CPUs of the ID, not only those within the level above.
    const sizes = new Map(ids.map((id) => [id, cpusIn(topology, free, current, new Set([id])).size]));
    ids.sort((a, b) => sizes.get(a)! - sizes.get(b)! || a - b);
    if (depth === at) return ids;
    return ids.flatMap((id) => within(cpusIn(topology, free, current, new Set([id])), depth + 1));
  };
  return [...new Set(within(free, 0))];
}

/**
 * Takes the same number of CPUs from each NUMA node, in groups of `groupSize`, on as few nodes as possible.
 */
export function takeDistributed(
  topology: CpuTopology,
  available: CpuSet,
  count: number,
  groupSize: number,
): CpuSet {
  if (count < 1) return noCpus;
  if (count % groupSize !== 0) return takePacked(topology, available, count);
  const free = available.intersection(topology.cpus) as CpuSet;
  if (count > free.size) throw new Error("not enough cpus available to satisfy request");
  const nodes = sortedIds(topology, free, "numaNode");
  const { least, most } = nodesNeeded(topology, nodes.length, count, groupSize);
  const freeOf = new Map(
    nodes.map((node) => [node, cpusIn(topology, free, "numaNode", new Set([node])).size]),
  );
  for (let size = least; size <= most; size++) {
    const best = bestSpread(nodes, freeOf, size, { count, groupSize });
    if (best) return takeSpread(topology, free, best, { count, groupSize });
  }
  return takePacked(topology, available, count);
}

function nodesNeeded(
  { cpus, numaNodes }: CpuTopology,
  availableNodes: number,
  count: number,
  groupSize: number,
): { readonly least: number; readonly most: number } {
  const groups = Math.ceil(cpus.size / groupSize);
  const groupsPerNode = Math.ceil(groups / numaNodes.length);
  const groupsNeeded = Math.ceil(count / groupSize);
  return {
    least: Math.ceil(groupsNeeded / groupsPerNode),
    most: Math.min(groupsNeeded, availableNodes),
  };
}

interface Request {
  readonly count: number;
  readonly groupSize: number;
}
interface Spread {
  readonly nodes: readonly number[];
  /** Nodes from which the remainder of an uneven division is taken, one group each in turn. */
  readonly remainder: readonly number[];
  readonly balance: number;
}

/** Returns the combination of nodes that leaves the free CPUs most evenly distributed. */
function bestSpread(
  nodes: readonly number[],
  freeOf: ReadonlyMap<number, number>,
  size: number,
  { count, groupSize }: Request,
): Spread | undefined {
  let best: Spread | undefined;
  for (const combination of combinations(nodes, size)) {
    if (best?.balance === 0) break;
    const groups = combination.reduce((sum, node) => sum + Math.trunc(freeOf.get(node)! / groupSize), 0);
    const each = Math.trunc(count / size / groupSize) * groupSize;
    if (groups * groupSize < count || combination.some((node) => freeOf.get(node)! < each)) continue;
    const after = new Map(freeOf);
    for (const node of combination) after.set(node, after.get(node)! - each);
    const rest = count - each * size;
    const candidate =
      rest === 0
        ? { nodes: combination, remainder: [], balance: deviation([...after.values()]) }
        : bestRemainder(combination, after, rest, groupSize);
    if (candidate && (!best || candidate.balance < best.balance)) best = candidate;
  }
  return best;
}

function bestRemainder(
  nodes: readonly number[],
  after: ReadonlyMap<number, number>,
  rest: number,
  groupSize: number,
): Spread | undefined {
  const able = nodes.filter((node) => after.get(node)! >= groupSize);
  let best: Spread | undefined;
  for (let size = able.length; size >= 1; size--)
    for (const subset of combinations(able, size)) {
      if (subset.reduce((sum, node) => sum + after.get(node)!, 0) < rest) continue;
      const left = new Map(after);
      for (let missing = rest; missing > 0;)
        for (const node of subset) {
          if (missing === 0) break;
          if (left.get(node)! < groupSize) continue;
          left.set(node, left.get(node)! - groupSize);
          missing -= groupSize;
        }
      const balance = deviation([...left.values()]);
      if (!best || balance < best.balance) best = { nodes, remainder: subset, balance };
    }
  return best;
}

function takeSpread(
  topology: CpuTopology,
  available: CpuSet,
  { nodes, remainder }: Spread,
  { count, groupSize }: Request,
): CpuSet {
  let free = available;
  let taken: CpuSet = noCpus;
  const takeFrom = (node: number, amount: number): void => {
    const cpus = takePacked(topology, cpusIn(topology, free, "numaNode", new Set([node])), amount);
    taken = taken.union(cpus);
    free = free.difference(cpus);
  };
  const each = Math.trunc(count / nodes.length / groupSize) * groupSize;
  for (const node of nodes) takeFrom(node, each);
  while (taken.size < count)
    for (const node of remainder) {
      if (taken.size === count) break;
      if (cpusIn(topology, free, "numaNode", new Set([node])).size >= groupSize) takeFrom(node, groupSize);
    }
  return taken;
}

function* combinations(from: readonly number[], size: number): Generator<readonly number[]> {
  if (size === 0) yield [];
  else
    for (let at = 0; at <= from.length - size; at++)
      for (const rest of combinations(from.slice(at + 1), size - 1)) yield [from[at]!, ...rest];
}

/** Returns the standard deviation rounded to thousandths, so that equal distributions compare equal. */
function deviation(values: readonly number[]): number {
  const thousandths = (value: number): number => Math.round(value * 1000) / 1000;
  const mean = thousandths(values.reduce((sum, value) => sum + value, 0) / values.length);
  return thousandths(Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length));
}
