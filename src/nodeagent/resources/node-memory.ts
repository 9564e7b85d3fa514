// The machine's memory usage as counted by the root cgroup: usage minus inactive file pages. The kernel's
// MemAvailable also counts other pages as free, and eviction thresholds are not defined in terms of it.
import { readFile } from "node:fs/promises";
import type { CgroupTree } from "./cgroup-tree.ts";
import { fieldsOf } from "./cgroup-usage.ts";

export interface NodeMemory {
  readonly availableBytes: number;
  readonly usageBytes: number;
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
}

export async function nodeMemory(
  tree: Pick<CgroupTree, "mounts" | "read">,
  capacityBytes: number,
  meminfo?: string,
): Promise<NodeMemory> {
  const stat = fieldsOf(await tree.read("/", "memory", "memory.stat"));
  const of = (key: string): number => stat.get(key) ?? 0;
  // The v2 root group has no usage counter.
  const isFirst = tree.mounts.version === 1;
  const counted = isFirst ? await tree.read("/", "memory", "memory.usage_in_bytes") : undefined;
  const usageBytes = counted === undefined ? used(meminfo ?? (await readMeminfo())) : Number(counted);
  const workingSetBytes = Math.max(0, usageBytes - of(isFirst ? "total_inactive_file" : "inactive_file"));
  return {
    availableBytes: Math.max(0, capacityBytes - workingSetBytes),
    usageBytes,
    workingSetBytes,
    rssBytes: of(isFirst ? "total_rss" : "anon"),
    pageFaults: of("pgfault"),
    majorPageFaults: of("pgmajfault"),
  };
}

const readMeminfo = async (): Promise<string> => await readFile("/proc/meminfo", "utf8");

function used(meminfo: string): number {
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(meminfo)?.[1] ?? 0) * 1024;
  return bytes("MemTotal") - bytes("MemFree");
}
