// Common operations on control groups of both versions: create, limit, list, remove. A missing controller is
// logged once and then ignored. Cgroup files live in kernel memory, so frequent operations are synchronous,
// at a fifth of the cost of asynchronous ones.
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { access, mkdir, readFile, readdir, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Log } from "#base";

/** The mount points of the controllers. In version 2 there is a single hierarchy. */
export type CgroupMounts =
  | { readonly version: 1; readonly controllers: ReadonlyMap<string, string> }
  | { readonly version: 2; readonly path: string; readonly controllers: ReadonlySet<string> }
  | { readonly version: 0 };

export interface CgroupLimits {
  readonly cpuShares?: number;
  /** Microseconds per period; negative means unlimited. */
  readonly cpuQuota?: number;
  readonly cpuPeriod?: number;
  /** Negative means unlimited. */
  readonly memoryBytes?: number;
  readonly pids?: number;
  /** By the kernel's name of the page size, such as 2MB. */
  readonly hugepages?: Readonly<Record<string, number>>;
}

export interface CgroupTree {
  readonly mounts: CgroupMounts;
  /** Creates the group and its parents in all hierarchies; idempotent. */
  make(name: string): Promise<void>;
  limit(name: string, limits: CgroupLimits): Promise<void>;
  /** Lists the names of the child groups. */
  below(name: string): Promise<ReadonlySet<string>>;
  /** Lists the processes in the group and its descendants. */
  processes(name: string): Promise<ReadonlySet<number>>;
  /** Removes the group and its descendants; resolves to false while a process remains. */
  remove(name: string): Promise<boolean>;
  /** Reads one file of the group; undefined if it does not exist. */
  read(name: string, controller: string, file: string): Promise<string | undefined>;
  exists(name: string): Promise<boolean>;
  /** Directories of the group that are missing in the required hierarchies. */
  missing(name: string): Promise<readonly string[]>;
  /** Moves a process into the group in every hierarchy. */
  join(name: string, pid: number): Promise<void>;
}

/**
 * Finds the cgroup mounts in the text of /proc/self/mounts. Version 2 is used only if no version 1
 * controllers are mounted.
 */
export async function findCgroups(mountsText?: string): Promise<CgroupMounts> {
  const text = mountsText ?? (await readFile("/proc/self/mounts", "utf8"));
  const controllers = new Map<string, string>();
  let unified: string | undefined;
  for (const line of text.split("\n")) {
    const [, path = "", type, options = ""] = line.split(" ");
    if (type === "cgroup2") unified ??= path;
    if (type !== "cgroup") continue;
    for (const option of options.split(",")) {
      const name = option.startsWith("name=") ? option : knownControllers.has(option) ? option : undefined;
      if (name !== undefined && !controllers.has(name)) controllers.set(name, path);
    }
  }
  if (controllers.has("memory") || controllers.has("cpu") || (controllers.size > 1 && !unified)) {
    // In hybrid mode the v2 hierarchy has no controllers, but runtimes create groups in it nevertheless.
    if (unified !== undefined) controllers.set("unified", unified);
    return { version: 1, controllers };
  }
  if (unified === undefined) return { version: 0 };
  const available = (await readFile(join(unified, "cgroup.controllers"), "utf8").catch(() => "")).trim();
  return { version: 2, path: unified, controllers: new Set(available === "" ? [] : available.split(" ")) };
}

const knownControllers = new Set([
  "cpu",
  "cpuacct",
  "cpuset",
  "memory",
  "devices",
  "freezer",
  "blkio",
  "pids",
  "hugetlb",
  "perf_event",
  "net_cls",
  "net_prio",
  "rdma",
  "misc",
]);

/** The hierarchies a group must exist in; foreign groups may be missing in the others, as in the kubelet. */
const counted = new Set(["cpu", "cpuacct", "cpuset", "memory", "pids", "hugetlb", "name=systemd"]);

export function cgroupTree(mounts: CgroupMounts, log: Log): CgroupTree {
  const warned = new Set<string>();
  const warnUnavailable = (controller: string, why: string): void => {
    if (warned.has(controller)) return;
    warned.add(controller);
    log.warn("cgroup controller unavailable; its limits are not enforced", { controller, why });
  };
  if (mounts.version === 0) warnUnavailable("all", "no control groups are mounted");
  const roots =
    mounts.version === 1
      ? [...new Set(mounts.controllers.values())]
      : mounts.version === 2
        ? [mounts.path]
        : [];
  const countedRoots =
    mounts.version === 1
      ? [...new Set([...mounts.controllers].flatMap(([each, path]) => (counted.has(each) ? [path] : [])))]
      : roots;
  const rootOf = (controller: string): string | undefined => {
    if (mounts.version === 1) return mounts.controllers.get(controller);
    return mounts.version === 2 && (mounts.controllers.has(controller) || controller === "")
      ? mounts.path
      : undefined;
  };
  const withCpus = new Set<string>();
  const put = (name: string, controller: string, file: string, value: string): void => {
    const root = rootOf(controller);
    if (root === undefined) {
      warnUnavailable(controller, "it is not mounted");
      return;
    }
    try {
      writeFileSync(join(root, name, file), value);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== "EACCES" && code !== "ENOENT" && code !== "EPERM" && code !== "EROFS") throw error;
      warnUnavailable(`${controller} (${file})`, code);
    }
  };
  const missing = async (name: string): Promise<string[]> => {
    const folders = countedRoots.map((root) => join(root, name));
    const there = await Promise.all(
      folders.map((folder) =>
        access(folder).then(
          () => true,
          () => false,
        ),
      ),
    );
    return folders.filter((_, i) => !there[i]);
  };
  return {
    mounts,
    make: async (name) => {
      for (const root of roots) {
        if (mounts.version === 2) await enableBelow(root, name, mounts.controllers);
        makeFolder(join(root, name));
        if (mounts.version === 1 && mounts.controllers.get("cpuset") === root)
          inheritCpus(root, name, withCpus);
      }
    },
    limit: async (name, limits) => {
      for (const [controller, file, value] of mounts.version === 2
        ? unifiedFiles(limits)
        : separateFiles(limits))
        put(name, controller, file, value);
    },
    below: async (name) => {
      const names = new Set<string>();
      for (const root of roots) for (const child of await childrenOf(join(root, name))) names.add(child);
      return names;
    },
    processes: async (name) => {
      const pids = new Set<number>();
      for (const root of roots) await collectProcesses(join(root, name), pids);
      return pids;
    },
    remove: async (name) => {
      let gone = true;
      for (const root of roots)
        gone = (isRemoved(join(root, name)) || (await removeTree(join(root, name)))) && gone;
      return gone;
    },
    read: async (name, controller, file) => {
      const root = rootOf(controller);
      return root === undefined
        ? undefined
        : await readFile(join(root, name, file), "utf8").catch(() => undefined);
    },
    join: async (name, pid) => {
      for (const root of roots) await writeFile(join(root, name, "cgroup.procs"), String(pid));
    },
    exists: async (name) => (await missing(name)).length === 0,
    missing,
  };
}

type Setting = readonly [controller: string, file: string, value: string];

function separateFiles({
  cpuShares,
  cpuQuota,
  cpuPeriod,
  memoryBytes,
  pids,
  hugepages,
}: CgroupLimits): Setting[] {
  const settings: Setting[] = [];
  if (cpuShares !== undefined) settings.push(["cpu", "cpu.shares", String(cpuShares)]);
  if (cpuPeriod !== undefined) settings.push(["cpu", "cpu.cfs_period_us", String(cpuPeriod)]);
  if (cpuQuota !== undefined)
    settings.push(["cpu", "cpu.cfs_quota_us", String(cpuQuota > 0 ? cpuQuota : -1)]);
  if (memoryBytes !== undefined) settings.push(["memory", "memory.limit_in_bytes", String(memoryBytes)]);
  if (pids !== undefined) settings.push(["pids", "pids.max", String(pids)]);
  for (const [size, bytes] of Object.entries(hugepages ?? {}))
    settings.push(["hugetlb", `hugetlb.${size}.limit_in_bytes`, String(bytes)]);
  return settings;
}

function unifiedFiles({
  cpuShares,
  cpuQuota,
  cpuPeriod,
  memoryBytes,
  pids,
  hugepages,
}: CgroupLimits): Setting[] {
  const settings: Setting[] = [];
  if (cpuShares !== undefined) settings.push(["cpu", "cpu.weight", String(weightOf(cpuShares))]);
  if (cpuQuota !== undefined)
    settings.push(["cpu", "cpu.max", `${cpuQuota > 0 ? cpuQuota : "max"} ${cpuPeriod ?? 100_000}`]);
  if (memoryBytes !== undefined)
    settings.push(["memory", "memory.max", memoryBytes < 0 ? "max" : String(memoryBytes)]);
  if (pids !== undefined) settings.push(["pids", "pids.max", String(pids)]);
  for (const [size, bytes] of Object.entries(hugepages ?? {}))
    settings.push(["hugetlb", `hugetlb.${size}.max`, String(bytes)]);
  return settings;
}

/** Converts shares (2 to 262144) to weights (1 to 10000). */
export const weightOf = (shares: number): number => Math.trunc(1 + ((shares - 2) * 9999) / 262_142);

/** Enables controllers for child groups in every parent's cgroup.subtree_control. */
async function enableBelow(root: string, name: string, controllers: ReadonlySet<string>): Promise<void> {
  const parts = name.split("/").filter((part) => part !== "");
  for (let i = 0; i < parts.length; i++) {
    const parent = join(root, ...parts.slice(0, i));
    await mkdir(parent, { recursive: true });
    const enabled = new Set(
      (await readFile(join(parent, "cgroup.subtree_control"), "utf8").catch(() => "")).trim().split(/\s+/),
    );
    for (const controller of controllers) {
      if (!enabled.has(controller))
        await writeFile(join(parent, "cgroup.subtree_control"), `+${controller}`).catch(() => undefined);
    }
  }
}

/** Tries without the parents first, which nearly always exist. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ENOENT") mkdirSync(folder, { recursive: true });
    else if (code !== "EEXIST") throw error;
  }
}

/** Removes a group without children, such as that of a pod whose containers have ended. */
function isRemoved(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "ENOENT";
  }
}

/** Copies CPUs and memory nodes from the parent, since a new v1 cpuset group has none. */
function inheritCpus(root: string, name: string, done: Set<string>): void {
  const folder = join(root, name);
  if (folder === root) return;
  const parent = dirname(name);
  // Pod groups are short-lived; their parents persist and are checked only once.
  if (parent !== "/" && parent !== "." && !done.has(parent)) {
    inheritCpus(root, parent, done);
    done.add(parent);
  }
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    try {
      if (readFileSync(join(folder, file), "utf8").trim() !== "") continue;
      const given = readFileSync(join(root, parent, file), "utf8").trim();
      if (given !== "") writeFileSync(join(folder, file), given);
    } catch {
      // Without the cpuset controller there is nothing to inherit.
    }
  }
}

async function childrenOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

async function collectProcesses(folder: string, into: Set<number>): Promise<void> {
  const text = await readFile(join(folder, "cgroup.procs"), "utf8").catch(() => "");
  for (const line of text.split("\n")) if (line !== "") into.add(Number(line));
  for (const child of await childrenOf(folder)) await collectProcesses(join(folder, child), into);
}

/** Removes directories bottom up; the files in cgroup directories cannot be removed. */
async function removeTree(folder: string): Promise<boolean> {
  for (const child of await childrenOf(folder)) if (!(await removeTree(join(folder, child)))) return false;
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "ENOENT";
  }
}
