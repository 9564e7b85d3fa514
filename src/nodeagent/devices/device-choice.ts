// Chooses which of a resource's devices a container gets. Pure: the same request yields the same devices.
import { AllocationError } from "../managers/hint-provider.ts";
import { type NumaMask, type TopologyHint, countOf, everyMask, maskOf } from "../managers/numa.ts";

export interface DeviceRequest {
  readonly resource: string;
  readonly size: number;
  readonly healthy: ReadonlySet<string>;
  /** Devices allocated to containers, including those in `reusable`. */
  readonly inUse: ReadonlySet<string>;
  /** Devices of the pod's init containers; used first. */
  readonly reusable: ReadonlySet<string>;
  /** Returns the NUMA nodes of a device; empty if unknown. */
  readonly numaOf: (device: string) => readonly number[];
  /** The NUMA nodes chosen by the topology manager. */
  readonly nodes: NumaMask | undefined;
}

/** The arguments of GetPreferredAllocation. */
export interface PreferenceRequest {
  readonly available: readonly string[];
  readonly mustInclude: readonly string[];
}

interface Candidates {
  readonly reused: readonly string[];
  readonly needed: number;
  readonly available: readonly string[];
  readonly aligned: readonly string[];
  /** Devices on other NUMA nodes, then those of unknown NUMA nodes. */
  readonly others: readonly string[];
}

export function preferenceRequest(request: DeviceRequest): PreferenceRequest | undefined {
  const { reused, needed, available, aligned } = candidatesOf(request);
  if (needed === 0 || needed === aligned.length) return undefined;
  const choice = needed < aligned.length ? aligned : available;
  return { available: [...choice, ...reused], mustInclude: reused };
}

/** Chooses the devices. Throws AllocationError if there are too few. */
export function chooseDevices(
  request: DeviceRequest,
  preferred: ReadonlySet<string> = new Set(),
): readonly string[] {
  const { reused, needed, available, aligned, others } = candidatesOf(request);
  const first = (of: readonly string[]): readonly string[] => of.filter((device) => preferred.has(device));
  const order =
    needed < aligned.length ? [...first(aligned), ...aligned] : [...aligned, ...first(available), ...others];
  return [...reused, ...[...new Set(order)].slice(0, needed)];
}

function candidatesOf(request: DeviceRequest): Candidates {
  const { resource, size, healthy, inUse, reusable, nodes, numaOf } = request;
  const reused = [...reusable].slice(0, size);
  const needed = size - reused.length;
  const available = [...healthy].filter((device) => !inUse.has(device));
  if (available.length < needed)
    throw new AllocationError(
      `requested number of devices unavailable for ${resource}. Requested: ${needed}, Available: ${available.length}`,
    );
  const isPlaced = nodes !== undefined && available.some((device) => numaOf(device).length > 0);
  const isNear = (device: string): boolean => numaOf(device).some((node) => (nodes ?? 0) & (1 << node));
  const aligned = isPlaced ? available.filter(isNear) : [];
  const rest = isPlaced ? available.filter((device) => !isNear(device)) : available;
  const others = [
    ...rest.filter((device) => numaOf(device).length > 0),
    ...rest.filter((device) => numaOf(device).length === 0),
  ];
  return { reused, needed, available, aligned, others };
}

export interface HintRequest {
  readonly size: number;
  /** All devices of the resource, healthy or not. */
  readonly all: Iterable<string>;
  readonly available: ReadonlySet<string>;
  readonly reusable: ReadonlySet<string>;
  readonly numaOf: (device: string) => readonly number[];
  readonly machine: readonly number[];
}

/**
 * Returns every set of NUMA nodes with enough available devices. Sets of the smallest size that could ever
 * have enough devices are preferred.
 */
export function deviceHints(request: HintRequest): readonly TopologyHint[] {
  const { size, available, reusable, numaOf, machine } = request;
  const all = [...request.all].map((device) => maskOf(numaOf(device)));
  let smallest = machine.length;
  const found: NumaMask[] = [];
  for (const mask of everyMask(machine)) {
    if (all.filter((device) => device & mask).length >= size) smallest = Math.min(smallest, countOf(mask));
    const placed = [...reusable].filter((device) => numaOf(device).length > 0);
    if (placed.some((device) => !(maskOf(numaOf(device)) & mask))) continue;
    const near = [...available].filter((device) => maskOf(numaOf(device)) & mask).length;
    if (placed.length + near >= size) found.push(mask);
  }
  return found.map((nodes) => ({ nodes, preferred: countOf(nodes) === smallest }));
}

/** Groups devices by NUMA node in the form of state files: under -1 if unknown. */
export function byNumaNode(
  devices: readonly string[],
  numaOf: (device: string) => readonly number[],
): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const device of devices) {
    const nodes = numaOf(device);
    for (const node of nodes.length > 0 ? nodes : [-1]) (found[node] ??= []).push(device);
  }
  return found;
}
