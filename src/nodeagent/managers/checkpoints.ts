// The state files of the CPU, memory and device managers, byte-identical to the kubelet's. The checksum is
// FNV-1a over the text that Go prints for the same structure.

export interface CpuCheckpoint {
  readonly policyName: string;
  readonly defaultCpuSet: string;
  /** CPUs by pod UID and container name. */
  readonly entries: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface MemoryTable {
  readonly total: number;
  readonly systemReserved: number;
  readonly allocatable: number;
  readonly reserved: number;
  readonly free: number;
}
export interface NumaNodeState {
  readonly numberOfAssignments: number;
  readonly memoryMap: Readonly<Record<string, MemoryTable>>;
  /** The nodes that share assignments with this one, including itself. */
  readonly cells: readonly number[];
}
export interface MemoryBlock {
  readonly numaAffinity: readonly number[];
  readonly type: string;
  readonly size: number;
}
export interface MemoryCheckpoint {
  readonly policyName: string;
  readonly machineState: Readonly<Record<string, NumaNodeState>>;
  readonly entries: Readonly<Record<string, Readonly<Record<string, readonly MemoryBlock[]>>>>;
}

export interface DeviceEntry {
  readonly PodUID: string;
  readonly ContainerName: string;
  readonly ResourceName: string;
  /** Devices by NUMA node; -1 if the plug-in reports none. */
  readonly DeviceIDs: Readonly<Record<string, readonly string[]>>;
  /** The plug-in's allocation response in base64. */
  readonly AllocResp: string;
}
export interface DeviceCheckpoint {
  readonly entries: readonly DeviceEntry[] | null;
  readonly registered: Readonly<Record<string, readonly string[]>> | null;
}

const sorted = <T>(map: Readonly<Record<string, T>>): [string, T][] =>
  Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
const byNumber = <T>(map: Readonly<Record<string, T>>): [string, T][] =>
  Object.entries(map).toSorted(([a], [b]) => Number(a) - Number(b));
const goMap = <T>(entries: readonly [string, T][], print: (value: T) => string): string =>
  `map[${entries.map(([key, value]) => `${key}:${print(value)}`).join(" ")}]`;
const goList = (values: readonly (string | number)[]): string => `[${values.join(" ")}]`;

export function cpuCheckpointText({ policyName, defaultCpuSet, entries }: CpuCheckpoint): string {
  const checksum = fnv32a(cpuPreimage({ policyName, defaultCpuSet, entries }));
  return JSON.stringify({
    policyName,
    defaultCpuSet,
    ...(Object.keys(entries).length > 0 && { entries: sortedDeep(entries) }),
    checksum,
  });
}

export const cpuPreimage = ({ policyName, defaultCpuSet, entries }: CpuCheckpoint): string =>
  `(*state.CPUManagerCheckpoint){PolicyName:(string)${policyName} DefaultCPUSet:(string)${defaultCpuSet} ` +
  `Entries:(map[string]map[string]string)` +
  `${goMap(sorted(entries), (containers) => goMap(sorted(containers), (cpus) => cpus))} ` +
  `Checksum:(checksum.Checksum)0}`;

export function memoryCheckpointText(state: MemoryCheckpoint): string {
  const { policyName, machineState, entries } = state;
  return JSON.stringify({
    policyName,
    machineState: Object.fromEntries(
      sorted(machineState).map(([node, { numberOfAssignments, memoryMap, cells }]) => [
        node,
        { numberOfAssignments, memoryMap: Object.fromEntries(sorted(memoryMap)), cells },
      ]),
    ),
    ...(Object.keys(entries).length > 0 && { entries: sortedDeep(entries) }),
    checksum: fnv32a(memoryPreimage(state)),
  });
}

export function memoryPreimage({ policyName, machineState, entries }: MemoryCheckpoint): string {
  const table = ({ total, systemReserved, allocatable, reserved, free }: MemoryTable): string =>
    `<*>{TotalMemSize:(uint64)${total} SystemReserved:(uint64)${systemReserved} ` +
    `Allocatable:(uint64)${allocatable} Reserved:(uint64)${reserved} Free:(uint64)${free}}`;
  const node = ({ numberOfAssignments, memoryMap, cells }: NumaNodeState): string =>
    `<*>{NumberOfAssignments:(int)${numberOfAssignments} ` +
    `MemoryMap:(map[v1.ResourceName]*state.MemoryTable)${goMap(sorted(memoryMap), table)} ` +
    `Cells:([]int)${goList(cells)}}`;
  const block = ({ numaAffinity, type, size }: MemoryBlock): string =>
    `{NUMAAffinity:([]int)${goList(numaAffinity)} Type:(v1.ResourceName)${type} Size:(uint64)${size}}`;
  return (
    `(*state.MemoryManagerCheckpoint){PolicyName:(string)${policyName} ` +
    `MachineState:(state.NUMANodeMap)${goMap(byNumber(machineState), node)} ` +
    `Entries:(state.ContainerMemoryAssignments)` +
    `${goMap(sorted(entries), (of) => goMap(sorted(of), (blocks) => goList(blocks.map(block))))} ` +
    `Checksum:(checksum.Checksum)0}`
  );
}

export function deviceCheckpointText(state: DeviceCheckpoint): string {
  const { entries, registered } = state;
  return JSON.stringify({
    Data: {
      PodDeviceEntries:
        entries?.map((entry) => ({
          PodUID: entry.PodUID,
          ContainerName: entry.ContainerName,
          ResourceName: entry.ResourceName,
          DeviceIDs: Object.fromEntries(sorted(entry.DeviceIDs)),
          AllocResp: entry.AllocResp,
        })) ?? null,
      RegisteredDevices: registered && Object.fromEntries(sorted(registered)),
    },
    Checksum: fnv32a(devicePreimage(state)),
  });
}

export function devicePreimage({ entries, registered }: DeviceCheckpoint): string {
  const entryText = ({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: DeviceEntry): string =>
    `{PodUID:(string)${PodUID} ContainerName:(string)${ContainerName} ResourceName:(string)${ResourceName} ` +
    `DeviceIDs:(checkpoint.DevicesPerNUMA)${goMap(byNumber(DeviceIDs), goList)} ` +
    `AllocResp:([]uint8)${goList([...Buffer.from(AllocResp, "base64")])}}`;
  return (
    `(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)` +
    `${entries ? goList(entries.map(entryText)) : "<nil>"} ` +
    `RegisteredDevices:(map[string][]string)${registered ? goMap(sorted(registered), goList) : "<nil>"}}`
  );
}

const sortedDeep = <T>(entries: Readonly<Record<string, Readonly<Record<string, T>>>>): object =>
  Object.fromEntries(sorted(entries).map(([pod, of]) => [pod, Object.fromEntries(sorted(of))]));

export function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
