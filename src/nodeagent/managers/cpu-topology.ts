// The CPU topology: the core, socket and NUMA node of each CPU.
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type CpuSet, parseCpuSet } from "./cpu-set.ts";

export interface CpuPlace {
  readonly cpu: number;
  readonly socket: number;
  readonly core: number;
  readonly numaNode: number;
}

export type TopologyLevel = "socket" | "core" | "numaNode";

export interface CpuTopology {
  readonly places: ReadonlyMap<number, CpuPlace>;
  readonly cpus: CpuSet;
  readonly sockets: number;
  readonly numaNodes: readonly number[];
  readonly cpusPerCore: number;
  readonly cpusPerSocket: number;
}

export function cpuTopology(places: readonly CpuPlace[]): CpuTopology {
  const count = (level: TopologyLevel): number => new Set(places.map((place) => place[level])).size;
  return {
    places: new Map(places.map((place) => [place.cpu, place])),
    cpus: new Set(places.map(({ cpu }) => cpu)),
    sockets: count("socket"),
    numaNodes: [...new Set(places.map(({ numaNode }) => numaNode))].toSorted((a, b) => a - b),
    cpusPerCore: places.length === 0 ? 0 : Math.trunc(places.length / count("core")),
    cpusPerSocket: places.length === 0 ? 0 : Math.trunc(places.length / count("socket")),
  };
}

/** Returns those of `cpus` that are in one of these cores, sockets or NUMA nodes. */
export function cpusIn(
  { places }: CpuTopology,
  cpus: Iterable<number>,
  level: TopologyLevel,
  ids: ReadonlySet<number>,
): CpuSet {
  return new Set([...cpus].filter((cpu) => ids.has(places.get(cpu)![level])));
}

/** Returns the cores, sockets or NUMA nodes of these CPUs. */
export const idsOf = (
  { places }: CpuTopology,
  cpus: Iterable<number>,
  level: TopologyLevel,
): ReadonlySet<number> => new Set([...cpus].map((cpu) => places.get(cpu)![level]));

export interface NumaNode {
  readonly id: number;
  readonly memoryBytes: number;
  /** Number of huge pages by page size in bytes. */
  readonly hugepages: ReadonlyMap<number, number>;
  /** Distances to all nodes, in the order of their IDs. */
  readonly distances: readonly number[];
}

export interface MachineTopology {
  readonly cpu: CpuTopology;
  readonly numa: readonly NumaNode[];
}

/** Reads the topology below `root`. A machine without information about NUMA nodes has one node. */
export async function readTopology(memoryBytes: number, root = "/"): Promise<MachineTopology> {
  const read = async (path: string): Promise<string> =>
    (await readFile(join(root, path), "utf8").catch(() => "")).trim();
  const nodes = "sys/devices/system/node";
  const ids = (await readdir(join(root, nodes)).catch(() => []))
    .flatMap((name) => (/^node\d+$/.test(name) ? [Number(name.slice(4))] : []))
    .toSorted((a, b) => a - b);
  const nodeOfCpu = new Map<number, number>();
  const numa: NumaNode[] = [];
  for (const id of ids) {
    for (const cpu of parseCpuSet(await read(`${nodes}/node${id}/cpulist`))) nodeOfCpu.set(cpu, id);
    const kilobytes = /MemTotal:\s+(\d+) kB/.exec(await read(`${nodes}/node${id}/meminfo`))?.[1];
    const distances = (await read(`${nodes}/node${id}/distance`)).split(/\s+/).map(Number);
    const hugepages = await hugepagesOf(join(root, nodes, `node${id}`, "hugepages"));
    numa.push({ id, memoryBytes: Number(kilobytes ?? 0) * 1024, hugepages, distances });
  }
  if (numa.length === 0) {
    const hugepages = await hugepagesOf(join(root, "sys/kernel/mm/hugepages"));
    numa.push({ id: 0, memoryBytes, hugepages, distances: [10] });
  }
  const online = parseCpuSet(await read("sys/devices/system/cpu/online"));
  const places: CpuPlace[] = [];
  const cores = new Map<string, number>();
  for (const cpu of online) {
    const folder = `sys/devices/system/cpu/cpu${cpu}/topology`;
    const socket = Number((await read(`${folder}/physical_package_id`)) || 0);
    // Cores are numbered by their first thread, because the kernel's core IDs repeat in every socket.
    const core = `${socket}/${(await read(`${folder}/core_id`)) || cpu}`;
    if (!cores.has(core)) cores.set(core, cpu);
    places.push({
      cpu,
      socket: Math.max(0, socket),
      core: cores.get(core)!,
      numaNode: nodeOfCpu.get(cpu) ?? numa[0]!.id,
    });
  }
  return { cpu: cpuTopology(places), numa };
}

async function hugepagesOf(folder: string): Promise<ReadonlyMap<number, number>> {
  const pages = new Map<number, number>();
  for (const name of await readdir(folder).catch(() => [])) {
    const kilobytes = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0);
    const count = await readFile(join(folder, name, "nr_hugepages"), "utf8").catch(() => "0");
    if (kilobytes > 0) pages.set(kilobytes * 1024, Number(count));
  }
  return pages;
}
