// The static CPU policy: containers of Guaranteed pods that request whole CPUs get them exclusively, all
// others share the rest. Pure: functions from state to state.
import { type Container, type Pod, isSidecar, peakUsage, numbers } from "#api";
import { parseQuantity, quantityMilliValue } from "#base";
import { qosClass } from "../plan/qos.ts";
import { containersOf, initContainersOf, uidOf } from "../pod.ts";
import type { CpuCheckpoint } from "./checkpoints.ts";
import { type CpuSet, formatCpuSet, noCpus, parseCpuSet, sameCpus } from "./cpu-set.ts";
import { type CpuTopology, cpusIn, idsOf } from "./cpu-topology.ts";
import { AllocationError, type HintProvider } from "./hint-provider.ts";
import { type TopologyHint, countOf, everyMask, nodesOf } from "./numa.ts";
import { takeDistributed, takePacked } from "./take-cpus.ts";

export interface CpuPolicyOptions {
  readonly fullCoresOnly: boolean;
  readonly distributeAcrossNuma: boolean;
  readonly alignBySocket: boolean;
}

/** Exclusive CPUs by pod UID and container name. */
export type CpuAssignments = ReadonlyMap<string, ReadonlyMap<string, CpuSet>>;

export interface CpuState {
  /** CPUs that are not exclusively assigned, including the reserved ones. */
  readonly shared: CpuSet;
  readonly assignments: CpuAssignments;
  /** CPUs of init containers to be reused by later containers of the pod. */
  readonly reusable: { readonly podUid: string; readonly cpus: CpuSet } | undefined;
}

export interface CpuPolicy extends HintProvider<CpuState> {
  readonly reserved: CpuSet;
  /** CPUs that can be assigned exclusively. */
  readonly allocatable: CpuSet;
}

/** `reservedCpus` is the set of CPUs to reserve, or their number. */
export function cpuPolicy(
  topology: CpuTopology,
  reservedCpus: CpuSet | number,
  options: CpuPolicyOptions,
): CpuPolicy {
  const take = (available: CpuSet, count: number): CpuSet =>
    options.distributeAcrossNuma
      ? takeDistributed(topology, available, count, options.fullCoresOnly ? topology.cpusPerCore : 1)
      : takePacked(topology, available, count);
  const reserved = typeof reservedCpus === "number" ? take(topology.cpus, reservedCpus) : reservedCpus;
  const reservedCores = cpusIn(topology, topology.cpus, "core", idsOf(topology, reserved, "core"));

  const available = ({ shared }: CpuState): CpuSet => shared.difference(reserved);
  const reusableOf = ({ reusable }: CpuState, podUid: string): CpuSet =>
    reusable?.podUid === podUid ? reusable.cpus : noCpus;

  return {
    reserved,
    allocatable: topology.cpus.difference(reserved),
    hints: (state, pod, container) => {
      const count = exclusiveCpus(pod, container);
      if (count === 0) return null;
      const own = state.assignments.get(uidOf(pod))?.get(container.name);
      if (own) return { cpu: own.size === count ? hintsFor(own, noCpus, count) : [] };
      return { cpu: hintsFor(available(state), reusableOf(state, uidOf(pod)), count) };
    },
    podHints: (state, pod) => {
      const count = podExclusiveCpus(pod);
      if (count === 0) return null;
      let assigned: CpuSet = noCpus;
      for (const container of [...initContainersOf(pod), ...containersOf(pod)]) {
        const own = state.assignments.get(uidOf(pod))?.get(container.name);
        if (own && own.size !== exclusiveCpus(pod, container)) return { cpu: [] };
        if (own) assigned = assigned.union(own);
      }
      if (assigned.size === count) return { cpu: hintsFor(assigned, noCpus, count) };
      return { cpu: hintsFor(available(state), reusableOf(state, uidOf(pod)).union(assigned), count) };
    },
    allocate: (state, pod, container, hint) => {
      const count = exclusiveCpus(pod, container);
      if (count === 0) return state;
      const own = state.assignments.get(uidOf(pod))?.get(container.name);
      if (own) return { ...state, reusable: reusableAfter(state, pod, container, own) };
      if (options.fullCoresOnly) checkAlignment(state, count);
      const cpus = choose(available(state).union(reusableOf(state, uidOf(pod))), count, hint);
      const after = {
        ...state,
        shared: state.shared.difference(cpus),
        assignments: assigned(state.assignments, uidOf(pod), container.name, cpus),
      };
      return { ...after, reusable: reusableAfter(state, pod, container, cpus) };
    },
    release: (state, podUid) => {
      const own = state.assignments.get(podUid);
      if (!own) return state;
      const assignments = new Map(state.assignments);
      assignments.delete(podUid);
      let { shared } = state;
      for (const cpus of own.values()) shared = shared.union(cpus);
      return { shared, assignments, reusable: state.reusable };
    },
  };

  function checkAlignment(state: CpuState, count: number): void {
    const { cpusPerCore } = topology;
    const physical = state.shared.difference(reservedCores).size;
    const message = `SMT Alignment Error: requested ${count} cpus not multiple cpus per core = ${cpusPerCore}`;
    if (count % cpusPerCore !== 0) throw new AllocationError(message, "SMTAlignmentError");
    if (count > physical)
      throw new AllocationError(
        `SMT Alignment Error: not enough free physical CPUs: available physical CPUs = ${physical}, requested CPUs = ${count}, CPUs per core = ${cpusPerCore}`,
        "SMTAlignmentError",
      );
  }

  /** Takes CPUs on the hinted NUMA nodes first, then any others. */
  function choose(free: CpuSet, count: number, { nodes }: TopologyHint): CpuSet {
    try {
      let near: CpuSet = noCpus;
      if (nodes !== undefined) {
        const wanted = new Set(nodesOf(nodes));
        const aligned = options.alignBySocket
          ? cpusIn(
              topology,
              free,
              "socket",
              idsOf(topology, cpusIn(topology, topology.cpus, "numaNode", wanted), "socket"),
            )
          : cpusIn(topology, free, "numaNode", wanted);
        near = take(aligned, Math.min(aligned.size, count));
      }
      return near.union(take(free.difference(near), count - near.size));
    } catch (error) {
      throw new AllocationError((error as Error).message);
    }
  }

  function hintsFor(free: CpuSet, reusable: CpuSet, count: number): TopologyHint[] {
    let smallest = topology.numaNodes.length;
    const masks: number[] = [];
    for (const mask of everyMask(topology.numaNodes)) {
      const nodes = new Set(nodesOf(mask));
      if (cpusIn(topology, topology.cpus, "numaNode", nodes).size >= count)
        smallest = Math.min(smallest, countOf(mask));
      const within = (cpus: CpuSet): number => cpusIn(topology, cpus, "numaNode", nodes).size;
      if (within(reusable) === reusable.size && reusable.size + within(free.difference(reusable)) >= count)
        masks.push(mask);
    }
    return masks.map((mask) => ({
      nodes: mask,
      preferred: countOf(mask) === smallest || (options.alignBySocket && isSocketAligned(mask, smallest)),
    }));
  }

  function isSocketAligned(mask: number, smallest: number): boolean {
    const nodesPerSocket = Math.trunc(topology.numaNodes.length / topology.sockets);
    if (nodesPerSocket === 0) return false;
    const cpus = cpusIn(topology, topology.cpus, "numaNode", new Set(nodesOf(mask)));
    return idsOf(topology, cpus, "socket").size === Math.ceil(smallest / nodesPerSocket);
  }
}

/** Returns the number of exclusive CPUs of a container: whole CPUs in a Guaranteed pod, otherwise 0. */
export function exclusiveCpus(pod: Pod, { resources }: Container): number {
  const request = resources?.requests?.["cpu"] ?? resources?.limits?.["cpu"];
  if (request === undefined || qosClass(pod) !== "Guaranteed") return 0;
  const milli = quantityMilliValue(parseQuantity(request));
  return milli % 1000 === 0 ? milli / 1000 : 0;
}

const podExclusiveCpus = (pod: Pod): number =>
  peakUsage(pod.spec, (container) => exclusiveCpus(pod, container), numbers);

function assigned(before: CpuAssignments, podUid: string, container: string, cpus: CpuSet): CpuAssignments {
  return new Map(before).set(podUid, new Map(before.get(podUid)).set(container, cpus));
}

/** CPUs of an init container are reusable by later containers; those of a container or sidecar are not. */
function reusableAfter(state: CpuState, pod: Pod, container: Container, cpus: CpuSet): CpuState["reusable"] {
  const podUid = uidOf(pod);
  const before = state.reusable?.podUid === podUid ? state.reusable.cpus : noCpus;
  const isInit = initContainersOf(pod).some((each) => each.name === container.name && !isSidecar(each));
  return { podUid, cpus: isInit ? before.union(cpus) : before.difference(cpus) };
}

export const cpuCheckpointOf = ({ shared, assignments }: CpuState, policyName: string): CpuCheckpoint => ({
  policyName,
  defaultCpuSet: formatCpuSet(shared),
  entries: Object.fromEntries(
    [...assignments].map(([uid, of]) => [
      uid,
      Object.fromEntries([...of].map(([name, cpus]) => [name, formatCpuSet(cpus)])),
    ]),
  ),
});

export const cpuStateOf = ({ defaultCpuSet, entries }: CpuCheckpoint): CpuState => ({
  shared: parseCpuSet(defaultCpuSet),
  assignments: new Map(
    Object.entries(entries).map(([uid, of]) => [
      uid,
      new Map(Object.entries(of).map(([name, cpus]) => [name, parseCpuSet(cpus)])),
    ]),
  ),
  reusable: undefined,
});

/** Returns why a restored state does not match this machine and its reservations; undefined if it does. */
export function cpuStateProblem(
  { shared, assignments }: CpuState,
  reserved: CpuSet,
  topology: CpuTopology,
): string | undefined {
  if (!reserved.isSubsetOf(shared))
    return `not all reserved cpus: "${formatCpuSet(reserved)}" are present in defaultCpuSet: "${formatCpuSet(shared)}"`;
  let known = shared;
  for (const [uid, of] of assignments)
    for (const [name, cpus] of of) {
      if (!cpus.isDisjointFrom(shared))
        return `pod: ${uid}, container: ${name} cpuset: "${formatCpuSet(cpus)}" overlaps with default cpuset "${formatCpuSet(shared)}"`;
      known = known.union(cpus);
    }
  return sameCpus(known, topology.cpus)
    ? undefined
    : `current set of available CPUs "${formatCpuSet(topology.cpus)}" doesn't match with CPUs in state "${formatCpuSet(known)}"`;
}
