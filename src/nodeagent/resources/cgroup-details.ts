// Details of a control group for cAdvisor metrics: settings, disk I/O, and the processes with their open
// files.
import { readFile, readdir, readlink } from "node:fs/promises";
import type { CgroupTree } from "./cgroup-tree.ts";
import { fieldsOf } from "./cgroup-usage.ts";
import { deviceName } from "./disk-traffic.ts";

export interface DiskTraffic {
  /** As in `/dev/sda`. */
  readonly device: string;
  readonly reads: number;
  readonly writes: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
}

export interface CgroupDetails {
  readonly cpuShares: number;
  readonly cpuPeriod: number;
  /** Microseconds per period; undefined if unlimited. */
  readonly cpuQuota: number | undefined;
  readonly memoryReservationBytes: number;
  readonly swapLimitBytes: number;
  /** 0 if unlimited. */
  readonly mostThreads: number;
  readonly oomKills: number;
  /** Of the group alone, without its descendants. */
  readonly ownPageFaults: number;
  readonly ownMajorPageFaults: number;
  readonly disks: readonly DiskTraffic[];
  readonly processes: ProcessDetails;
}

/** Process states and open files of a group. */
export interface ProcessDetails {
  readonly count: number;
  readonly descriptors: number;
  readonly sockets: number;
  readonly sleeping: number;
  readonly running: number;
  readonly stopped: number;
  readonly uninterruptible: number;
  /** Open file limit of the first process; undefined without processes. */
  readonly openFilesLimit: number | undefined;
}

const unlimited = 2 ** 62;
const limitOf = (text: string | undefined): number => {
  const limit = Number(text?.trim() || 0);
  return limit > 0 && limit < unlimited ? limit : 0;
};

/** Reads the details of a group and of its processes. */
export async function cgroupDetails(tree: CgroupTree, name: string): Promise<CgroupDetails> {
  const pids = ((await tree.read(name, tree.mounts.version === 2 ? "" : "memory", "cgroup.procs")) ?? "")
    .split("\n")
    .map(Number);
  const memory = fieldsOf(await tree.read(name, "memory", "memory.stat"));
  return {
    ...(tree.mounts.version === 2 ? await unifiedDetails(tree, name) : await separateDetails(tree, name)),
    mostThreads: limitOf(await tree.read(name, "pids", "pids.max")),
    ownPageFaults: memory.get("pgfault") ?? 0,
    ownMajorPageFaults: memory.get("pgmajfault") ?? 0,
    processes: await processDetails(pids.filter((pid) => pid > 0)),
  };
}

/** The part whose files differ between the cgroup versions. */
type Versioned = Omit<CgroupDetails, "mostThreads" | "ownPageFaults" | "ownMajorPageFaults" | "processes">;

async function separateDetails(tree: CgroupTree, name: string): Promise<Versioned> {
  const quota = Number((await tree.read(name, "cpu", "cpu.cfs_quota_us")) ?? -1);
  return {
    cpuShares: limitOf(await tree.read(name, "cpu", "cpu.shares")),
    cpuPeriod: limitOf(await tree.read(name, "cpu", "cpu.cfs_period_us")),
    cpuQuota: quota > 0 ? quota : undefined,
    memoryReservationBytes: limitOf(await tree.read(name, "memory", "memory.soft_limit_in_bytes")),
    swapLimitBytes: limitOf(await tree.read(name, "memory", "memory.memsw.limit_in_bytes")),
    oomKills: fieldsOf(await tree.read(name, "memory", "memory.oom_control")).get("oom_kill") ?? 0,
    disks: await disksOf(
      new Map([
        ["ios", await tree.read(name, "blkio", "blkio.throttle.io_serviced_recursive")],
        ["bytes", await tree.read(name, "blkio", "blkio.throttle.io_service_bytes_recursive")],
      ]),
    ),
  };
}

async function unifiedDetails(tree: CgroupTree, name: string): Promise<Versioned> {
  const [quota = "max", period = "0"] = ((await tree.read(name, "cpu", "cpu.max")) ?? "").trim().split(" ");
  const weight = limitOf(await tree.read(name, "cpu", "cpu.weight"));
  const perDevice = ((await tree.read(name, "io", "io.stat")) ?? "").trim().split("\n");
  return {
    // The inverse of the conversion to weights, so that both versions report the same shares.
    cpuShares: weight === 0 ? 0 : Math.round(2 + ((weight - 1) * 262_142) / 9999),
    cpuPeriod: limitOf(period),
    cpuQuota: limitOf(quota) || undefined,
    memoryReservationBytes: limitOf(await tree.read(name, "memory", "memory.low")),
    swapLimitBytes: limitOf(await tree.read(name, "memory", "memory.swap.max")),
    oomKills: fieldsOf(await tree.read(name, "memory", "memory.events")).get("oom_kill") ?? 0,
    disks: await Promise.all(
      perDevice
        .filter((line) => line !== "")
        .map(async (line) => {
          const [number = "", ...fields] = line.split(" ");
          const figures = new Map(fields.map((field) => field.split("=") as [string, string]));
          const of = (key: string): number => Number(figures.get(key) ?? 0);
          return {
            device: await deviceName(number),
            reads: of("rios"),
            writes: of("wios"),
            readBytes: of("rbytes"),
            writtenBytes: of("wbytes"),
          };
        }),
    ),
  };
}

/** Parses lines such as `8:0 Read 12`; one text holds operation counts, the other bytes. */
async function disksOf(texts: ReadonlyMap<string, string | undefined>): Promise<DiskTraffic[]> {
  const found = new Map<string, Map<string, number>>();
  for (const [kind, text] of texts) {
    for (const line of (text ?? "").split("\n")) {
      const [, number, way, amount] = /^(\d+:\d+) (Read|Write) (\d+)$/.exec(line) ?? [];
      if (number === undefined) continue;
      const figures = found.get(number) ?? found.set(number, new Map()).get(number)!;
      figures.set(`${way} ${kind}`, Number(amount));
    }
  }
  return await Promise.all(
    [...found].map(async ([number, figures]) => {
      const of = (key: string): number => figures.get(key) ?? 0;
      return {
        device: await deviceName(number),
        reads: of("Read ios"),
        writes: of("Write ios"),
        readBytes: of("Read bytes"),
        writtenBytes: of("Write bytes"),
      };
    }),
  );
}

/** Limits on the inspected processes and descriptors, so that large groups do not delay a scrape. */
const maxProcesses = 200;
const maxDescriptors = 4096;

async function processDetails(pids: readonly number[]): Promise<ProcessDetails> {
  const states = new Map<string, number>();
  let [descriptors, sockets] = [0, 0];
  for (const pid of pids.slice(0, maxProcesses)) {
    const state = /\) (\w) /.exec(await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ""))?.[1] ?? "";
    states.set(state, (states.get(state) ?? 0) + 1);
    const open = await readdir(`/proc/${pid}/fd`).catch(() => []);
    descriptors += open.length;
    for (const one of open.slice(0, maxDescriptors))
      if ((await readlink(`/proc/${pid}/fd/${one}`).catch(() => "")).startsWith("socket:")) sockets++;
  }
  const limits =
    pids[0] === undefined ? "" : await readFile(`/proc/${pids[0]}/limits`, "utf8").catch(() => "");
  const openFiles = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  const of = (...names: readonly string[]): number =>
    names.reduce((sum, name) => sum + (states.get(name) ?? 0), 0);
  return {
    count: pids.length,
    descriptors,
    sockets,
    sleeping: of("S", "I"),
    running: of("R"),
    stopped: of("T", "t"),
    uninterruptible: of("D"),
    openFilesLimit: openFiles === undefined ? undefined : Number(openFiles),
  };
}
