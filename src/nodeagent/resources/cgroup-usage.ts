// Resource usage of a control group, for both cgroup versions.
import { readFile } from "node:fs/promises";
import type { CgroupTree } from "./cgroup-tree.ts";

export interface CgroupUsage {
  readonly cpuNanoseconds: number;
  readonly userNanoseconds: number;
  readonly systemNanoseconds: number;
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttledNanoseconds: number;
  readonly memoryBytes: number;
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  readonly cacheBytes: number;
  readonly swapBytes: number;
  readonly mappedFileBytes: number;
  readonly mostMemoryBytes: number;
  readonly memoryFailures: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
  /** Undefined if unlimited. */
  readonly memoryLimitBytes: number | undefined;
  readonly processes: number;
}

const unlimited = 2 ** 62;
/** Duration of a clock tick: the kernel reports 100 per second. */
const tickNanoseconds = 10_000_000;

/** Returns undefined if the group does not exist. */
export async function cgroupUsage(tree: CgroupTree, name: string): Promise<CgroupUsage | undefined> {
  return tree.mounts.version === 2 ? await unifiedUsage(tree, name) : await separateUsage(tree, name);
}

/** Parses lines of a name and a number. */
export const fieldsOf = (text: string | undefined): Map<string, number> =>
  new Map(
    (text ?? "")
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .map(([key = "", value = "0"]) => [key, Number(value)]),
  );

async function separateUsage(tree: CgroupTree, name: string): Promise<CgroupUsage | undefined> {
  const usage = await tree.read(name, "cpuacct", "cpuacct.usage");
  const memory = await tree.read(name, "memory", "memory.usage_in_bytes");
  if (usage === undefined && memory === undefined) return undefined;
  const times = fieldsOf(await tree.read(name, "cpuacct", "cpuacct.stat"));
  const throttling = fieldsOf(await tree.read(name, "cpu", "cpu.stat"));
  const stat = fieldsOf(await tree.read(name, "memory", "memory.stat"));
  const number = async (controller: string, file: string): Promise<number> =>
    Number((await tree.read(name, controller, file)) ?? 0) || 0;
  const limit = await number("memory", "memory.limit_in_bytes");
  const memoryBytes = Number(memory ?? 0);
  return {
    cpuNanoseconds: Number(usage ?? 0),
    userNanoseconds: (times.get("user") ?? 0) * tickNanoseconds,
    systemNanoseconds: (times.get("system") ?? 0) * tickNanoseconds,
    periods: throttling.get("nr_periods") ?? 0,
    throttledPeriods: throttling.get("nr_throttled") ?? 0,
    throttledNanoseconds: throttling.get("throttled_time") ?? 0,
    memoryBytes,
    workingSetBytes: Math.max(0, memoryBytes - (stat.get("total_inactive_file") ?? 0)),
    rssBytes: stat.get("total_rss") ?? 0,
    cacheBytes: stat.get("total_cache") ?? 0,
    swapBytes: stat.get("total_swap") ?? 0,
    mappedFileBytes: stat.get("total_mapped_file") ?? 0,
    mostMemoryBytes: await number("memory", "memory.max_usage_in_bytes"),
    memoryFailures: await number("memory", "memory.failcnt"),
    pageFaults: stat.get("total_pgfault") ?? 0,
    majorPageFaults: stat.get("total_pgmajfault") ?? 0,
    memoryLimitBytes: limit > 0 && limit < unlimited ? limit : undefined,
    processes: await number("pids", "pids.current"),
  };
}

async function unifiedUsage(tree: CgroupTree, name: string): Promise<CgroupUsage | undefined> {
  const cpuText = await tree.read(name, "cpu", "cpu.stat");
  const memory = await tree.read(name, "memory", "memory.current");
  if (cpuText === undefined && memory === undefined) return undefined;
  const cpu = fieldsOf(cpuText);
  const stat = fieldsOf(await tree.read(name, "memory", "memory.stat"));
  const events = fieldsOf(await tree.read(name, "memory", "memory.events"));
  const number = async (controller: string, file: string): Promise<number> =>
    Number((await tree.read(name, controller, file)) ?? 0) || 0;
  const limit = await number("memory", "memory.max");
  const memoryBytes = Number(memory ?? 0);
  const micro = (key: string): number => (cpu.get(key) ?? 0) * 1000;
  return {
    cpuNanoseconds: micro("usage_usec"),
    userNanoseconds: micro("user_usec"),
    systemNanoseconds: micro("system_usec"),
    periods: cpu.get("nr_periods") ?? 0,
    throttledPeriods: cpu.get("nr_throttled") ?? 0,
    throttledNanoseconds: micro("throttled_usec"),
    memoryBytes,
    workingSetBytes: Math.max(0, memoryBytes - (stat.get("inactive_file") ?? 0)),
    rssBytes: stat.get("anon") ?? 0,
    cacheBytes: stat.get("file") ?? 0,
    swapBytes: await number("memory", "memory.swap.current"),
    mappedFileBytes: stat.get("file_mapped") ?? 0,
    mostMemoryBytes: await number("memory", "memory.peak"),
    memoryFailures: events.get("max") ?? 0,
    pageFaults: stat.get("pgfault") ?? 0,
    majorPageFaults: stat.get("pgmajfault") ?? 0,
    memoryLimitBytes: limit > 0 ? limit : undefined,
    processes: await number("pids", "pids.current"),
  };
}

export interface InterfaceUsage {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxPackets: number;
  readonly rxErrors: number;
  readonly rxDropped: number;
  readonly txBytes: number;
  readonly txPackets: number;
  readonly txErrors: number;
  readonly txDropped: number;
}

/** Returns the traffic in the network namespace of a process; empty if the process has exited. */
export async function networkUsage(pid: number | "self"): Promise<InterfaceUsage[]> {
  const text = await readFile(`/proc/${pid}/net/dev`, "utf8").catch(() => "");
  return text
    .split("\n")
    .slice(2)
    .flatMap((line) => {
      const [name, figures] = line.split(":");
      if (figures === undefined || name!.trim() === "lo") return [];
      const n = figures.trim().split(/\s+/).map(Number);
      return [
        {
          name: name!.trim(),
          rxBytes: n[0]!,
          rxPackets: n[1]!,
          rxErrors: n[2]!,
          rxDropped: n[3]!,
          txBytes: n[8]!,
          txPackets: n[9]!,
          txErrors: n[10]!,
          txDropped: n[11]!,
        },
      ];
    });
}
