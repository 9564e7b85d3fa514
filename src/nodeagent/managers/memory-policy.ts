// The static memory policy: containers of Guaranteed pods get their memory and huge pages from as few NUMA
// nodes as possible. Pure: functions from state to state.
import { type Container, type Pod, isSidecar, peakUsage, numbers, runningContainers } from "#api";
import { formatQuantity, parseQuantity, quantityOf, quantityValue } from "#base";
import { qosClass } from "../plan/qos.ts";
import { initContainersOf, uidOf } from "../pod.ts";
import type { MemoryBlock, MemoryTable, NumaNodeState } from "./checkpoints.ts";
import type { NumaNode } from "./cpu-topology.ts";
import { AllocationError, type HintProvider } from "./hint-provider.ts";
import { type NumaMask, type TopologyHint, countOf, everyMask, isNarrower, maskOf, nodesOf } from "./numa.ts";

export type MachineState = Readonly<Record<string, NumaNodeState>>;
type Blocks = ReadonlyMap<string, readonly MemoryBlock[]>;

export interface MemoryState {
  readonly machine: MachineState;
  /** Memory blocks by pod UID and container name. */
  readonly assignments: ReadonlyMap<string, Blocks>;
  /** Memory of init containers to be reused by later containers of the pod, by mask and type. */
  readonly reusable: { readonly podUid: string; readonly sizes: ReadonlyMap<string, number> } | undefined;
}

type Sizes = ReadonlyMap<string, number>;
export type ReservedMemory = ReadonlyMap<number, Sizes>;

export const memoryPolicy: HintProvider<MemoryState> = {
  hints: (state, pod, container) => {
    if (qosClass(pod) !== "Guaranteed") return null;
    const wanted = requestedMemory(container);
    const own = state.assignments.get(uidOf(pod))?.get(container.name);
    return own ? hintsOfBlocks(own, wanted) : byType(wanted, hintsFor(state, pod, wanted));
  },
  podHints: (state, pod) => {
    if (qosClass(pod) !== "Guaranteed") return null;
    const wanted = podRequestedMemory(pod);
    const own = [...(state.assignments.get(uidOf(pod))?.values() ?? [])][0];
    return own ? hintsOfBlocks(own, wanted) : byType(wanted, hintsFor(state, pod, wanted));
  },
  allocate: (state, pod, container, hint) => {
    if (qosClass(pod) !== "Guaranteed") return state;
    const own = state.assignments.get(uidOf(pod))?.get(container.name);
    if (own) return { ...state, reusable: reusableAfter(state, pod, container, own) };
    const wanted = requestedMemory(container);
    if (wanted.size === 0) return state;
    const nodes = nodesOf(chooseMask(state, pod, wanted, hint));
    const blocks = [...wanted].map(([type, size]): MemoryBlock => ({ numaAffinity: nodes, type, size }));
    let { machine } = state;
    for (const { type, size } of blocks)
      machine = reserve(machine, nodes, type, Math.max(0, size - reusableSize(state, pod, nodes, type)));
    const of = new Map(state.assignments.get(uidOf(pod))).set(container.name, blocks);
    const assignments = new Map(state.assignments).set(uidOf(pod), withoutReused(of, pod, container, blocks));
    return { machine, assignments, reusable: reusableAfter(state, pod, container, blocks) };
  },
  release: (state, podUid) => {
    const of = state.assignments.get(podUid);
    if (!of) return state;
    let { machine } = state;
    for (const blocks of of.values()) for (const block of blocks) machine = freeBlock(machine, block);
    const assignments = new Map(state.assignments);
    assignments.delete(podUid);
    return { machine, assignments, reusable: state.reusable };
  },
};

/**
 * Releases the memory of init containers, which have exited when a later container of their pod is created.
 */
export function releaseEndedInit(state: MemoryState, pod: Pod, container: Container): MemoryState {
  const of = state.assignments.get(uidOf(pod));
  if (!of) return state;
  const left = new Map(of);
  let { machine } = state;
  for (const { name, restartPolicy } of initContainersOf(pod)) {
    if (name === container.name) break;
    if (isSidecar({ restartPolicy })) continue;
    for (const block of left.get(name) ?? []) machine = freeBlock(machine, block);
    left.delete(name);
  }
  if (left.size === of.size) return state;
  return { ...state, machine, assignments: new Map(state.assignments).set(uidOf(pod), left) };
}

/** Returns the machine state without any allocations. */
export function freshMachine(numa: readonly NumaNode[], reserved: ReservedMemory): MachineState {
  return Object.fromEntries(
    numa.map(({ id, memoryBytes, hugepages }) => {
      const kept = (type: string): number => reserved.get(id)?.get(type) ?? 0;
      const table = (total: number, systemReserved: number, other = 0): MemoryTable => {
        const allocatable = total - systemReserved - other;
        return { total, systemReserved, allocatable, reserved: 0, free: allocatable };
      };
      const memoryMap: Record<string, MemoryTable> = {};
      let inPages = 0;
      for (const [pageBytes, count] of hugepages) {
        const type = `hugepages-${formatQuantity(quantityOf(pageBytes, 0, "BinarySI"))}`;
        memoryMap[type] = table(pageBytes * count, kept(type));
        inPages += pageBytes * count;
      }
      memoryMap["memory"] = table(memoryBytes, kept("memory"), inPages);
      return [String(id), { numberOfAssignments: 0, memoryMap, cells: [id] }];
    }),
  );
}

/** Returns why a restored state does not match this machine; undefined if it does. */
export function memoryStateProblem(state: MemoryState, fresh: MachineState): string | undefined {
  let expected = fresh;
  for (const of of state.assignments.values())
    for (const { numaAffinity, type, size } of [...of.values()].flat()) {
      if (numaAffinity.some((node) => !expected[node]?.memoryMap[type]))
        return "the memory assignment uses memory that does not exist";
      expected = reserve(expected, numaAffinity, type, size);
    }
  return JSON.stringify(comparable(expected)) === JSON.stringify(comparable(state.machine))
    ? undefined
    : "the expected machine state is different from the real one";
}

/**
 * How the memory of a group of nodes is divided among them depends on the order in which containers came and
 * went, so it is compared as a whole.
 */
const comparable = (machine: MachineState): unknown =>
  Object.entries(machine)
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([node, { numberOfAssignments, memoryMap, cells }]) => [
      node,
      numberOfAssignments,
      [...cells].toSorted((a, b) => a - b),
      Object.entries(memoryMap)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([type, { total, systemReserved, allocatable }]) => [
          type,
          total,
          systemReserved,
          allocatable,
          sumOf(cells, (cell) => machine[cell]?.memoryMap[type]?.reserved),
          sumOf(cells, (cell) => machine[cell]?.memoryMap[type]?.free),
        ]),
    ]);

const sumOf = (cells: readonly number[], amount: (cell: number) => number | undefined): number =>
  cells.reduce((sum, cell) => sum + (amount(cell) ?? 0), 0);

const isMemory = (name: string): boolean => name === "memory" || name.startsWith("hugepages-");

function requestedMemory({ resources }: Container): Sizes {
  const amounts = { ...resources?.limits, ...resources?.requests };
  return new Map(
    Object.entries(amounts)
      .filter(([name]) => isMemory(name))
      .map(([name, amount]) => [name, quantityValue(parseQuantity(amount))]),
  );
}

function podRequestedMemory(pod: Pod): Sizes {
  const sizeOf = (type: string) => (container: Container) => requestedMemory(container).get(type) ?? 0;
  const types = new Set(
    runningContainers(pod.spec).flatMap((container) => [...requestedMemory(container).keys()]),
  );
  return new Map([...types].map((type) => [type, peakUsage(pod.spec, sizeOf(type), numbers)]));
}

function byType(wanted: Sizes, hints: readonly TopologyHint[]): Record<string, readonly TopologyHint[]> {
  // If no nodes are suitable there are no hints at all, which the topology manager treats as no preference.
  return hints.length === 0 ? {} : Object.fromEntries([...wanted.keys()].map((type) => [type, hints]));
}

/** Returns the nodes of existing blocks as the only hints; null if the requested sizes have changed. */
function hintsOfBlocks(
  blocks: readonly MemoryBlock[],
  wanted: Sizes,
): Record<string, readonly TopologyHint[]> | null {
  const fits = blocks.length === wanted.size && blocks.every(({ type, size }) => wanted.get(type) === size);
  if (!fits) return null;
  return Object.fromEntries(
    blocks.map(({ type, numaAffinity }) => [type, [{ nodes: maskOf(numaAffinity), preferred: true }]]),
  );
}

function hintsFor({ machine, ...state }: MemoryState, pod: Pod, wanted: Sizes): TopologyHint[] {
  const all = Object.keys(machine)
    .map(Number)
    .toSorted((a, b) => a - b);
  let smallest = all.length;
  const masks: NumaMask[] = [];
  for (const mask of everyMask(all)) {
    const nodes = nodesOf(mask);
    const sum = (type: string, field: "free" | "allocatable"): number =>
      nodes.reduce((total, node) => total + (machine[node]!.memoryMap[type]?.[field] ?? 0), 0);
    if ([...wanted].some(([type, size]) => sum(type, "allocatable") < size)) continue;
    smallest = Math.min(smallest, nodes.length);
    if (!mayGroup(machine, nodes)) continue;
    const reusable = (type: string): number => reusableSize({ machine, ...state }, pod, nodes, type);
    if ([...wanted].every(([type, size]) => sum(type, "free") + reusable(type) >= size)) masks.push(mask);
  }
  return masks.map((mask) => ({ nodes: mask, preferred: countOf(mask) === smallest }));
}

/** Reports whether these nodes may be used as a group: no node may be part of a different group in use. */
function mayGroup(machine: MachineState, nodes: readonly number[]): boolean {
  if (nodes.length === 1) return machine[nodes[0]!]!.cells.length === 1;
  return nodes.every((node) => {
    const { numberOfAssignments, cells } = machine[node]!;
    return numberOfAssignments === 0 || (cells.length > 1 && maskOf(cells) === maskOf(nodes));
  });
}

function chooseMask(state: MemoryState, pod: Pod, wanted: Sizes, hint: TopologyHint): NumaMask {
  const hints = hintsFor(state, pod, wanted);
  let chosen = hint;
  if (hint.nodes === undefined) {
    const best = bestOf(hints);
    if (!best)
      throw new AllocationError(
        "[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available",
      );
    if (!best.preferred && hint.preferred)
      throw new AllocationError("[memorymanager] failed to find the default preferred hint");
    chosen = best;
  }
  const nodes = nodesOf(chosen.nodes!);
  const isEnough = [...wanted].every(
    ([type, size]) =>
      nodes.reduce((sum, node) => sum + (state.machine[node]?.memoryMap[type]?.free ?? 0), 0) >= size,
  );
  if (isEnough) return chosen.nodes!;
  const wider = bestOf(hints.filter((one) => (one.nodes! & chosen.nodes!) === chosen.nodes));
  if (!wider)
    throw new AllocationError(
      "[memorymanager] failed to find NUMA nodes to extend the current topology hint",
    );
  if (!wider.preferred && chosen.preferred)
    throw new AllocationError("[memorymanager] failed to find the extended preferred hint");
  return wider.nodes!;
}

function bestOf(hints: readonly TopologyHint[]): TopologyHint | undefined {
  return hints.reduce<TopologyHint | undefined>((best, hint) => {
    if (!best || (hint.preferred && !best.preferred)) return hint;
    return hint.preferred === best.preferred && isNarrower(hint.nodes!, best.nodes!) ? hint : best;
  }, undefined);
}

function reserve(machine: MachineState, nodes: readonly number[], type: string, size: number): MachineState {
  let missing = size;
  const after = { ...machine };
  for (const node of nodes) {
    const before = machine[node]!;
    const table = before.memoryMap[type];
    const taken = Math.min(missing, Math.max(0, table?.free ?? 0));
    missing -= taken;
    after[node] = {
      numberOfAssignments: before.numberOfAssignments + 1,
      cells: nodes,
      memoryMap: table
        ? {
            ...before.memoryMap,
            [type]: { ...table, reserved: table.reserved + taken, free: table.free - taken },
          }
        : before.memoryMap,
    };
  }
  return after;
}

function freeBlock(machine: MachineState, { numaAffinity, type, size }: MemoryBlock): MachineState {
  let left = size;
  const after = { ...machine };
  for (const node of numaAffinity) {
    const before = machine[node];
    if (!before) continue;
    const table = before.memoryMap[type];
    const freed = Math.min(left, table?.reserved ?? 0);
    left -= freed;
    const numberOfAssignments = before.numberOfAssignments - 1;
    after[node] = {
      numberOfAssignments,
      cells: numberOfAssignments === 0 ? [node] : before.cells,
      memoryMap: table
        ? {
            ...before.memoryMap,
            [type]: { ...table, reserved: table.reserved - freed, free: table.free + freed },
          }
        : before.memoryMap,
    };
  }
  return after;
}

const reusableKey = (nodes: readonly number[], type: string): string => `${maskOf(nodes)}/${type}`;

function reusableSize({ reusable }: MemoryState, pod: Pod, nodes: readonly number[], type: string): number {
  return reusable?.podUid === uidOf(pod) ? (reusable.sizes.get(reusableKey(nodes, type)) ?? 0) : 0;
}

function reusableAfter(
  { reusable }: MemoryState,
  pod: Pod,
  container: Container,
  blocks: readonly MemoryBlock[],
): MemoryState["reusable"] {
  const podUid = uidOf(pod);
  const sizes = new Map(reusable?.podUid === podUid ? reusable.sizes : []);
  const isInit = initContainersOf(pod).some((each) => each.name === container.name && !isSidecar(each));
  for (const { numaAffinity, type, size } of blocks) {
    const key = reusableKey(numaAffinity, type);
    const before = sizes.get(key) ?? 0;
    sizes.set(key, isInit ? Math.max(before, size) : Math.max(0, before - size));
  }
  return { podUid, sizes };
}

/** Subtracts the memory that a container reuses from the blocks of earlier init containers. */
function withoutReused(of: Blocks, pod: Pod, container: Container, blocks: readonly MemoryBlock[]): Blocks {
  const after = new Map(of);
  for (const { numaAffinity, type, size } of blocks) {
    let left = size;
    for (const { name, restartPolicy } of initContainersOf(pod)) {
      if (name === container.name || left === 0) break;
      if (isSidecar({ restartPolicy })) continue;
      const before = after.get(name);
      if (!before) continue;
      after.set(
        name,
        before.map((block) => {
          if (block.type !== type || maskOf(block.numaAffinity) !== maskOf(numaAffinity)) return block;
          const taken = Math.min(left, block.size);
          left -= taken;
          return { ...block, size: block.size - taken };
        }),
      );
    }
  }
  return after;
}
