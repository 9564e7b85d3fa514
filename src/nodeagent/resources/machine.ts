// Hardware and identity of the machine, as reported by the kernel.
import { execFile } from "node:child_process";
import { readFile, readdir, statfs } from "node:fs/promises";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface Hugepages {
  /** As in cgroup file names: `2MB`. */
  readonly size: string;
  readonly pageBytes: number;
  readonly count: number;
}

export interface Machine {
  readonly cpus: number;
  readonly cores: number;
  readonly sockets: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly hugepages: readonly Hugepages[];
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly architecture: string;
  /** Maximum number of processes and threads. */
  readonly maxPids: number;
  readonly appArmor: boolean;
  readonly selinux: boolean;
}

const architectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

/** Comma-separated files; the first non-empty one is used. */
export interface MachineIdFiles {
  readonly machineIdFiles?: string;
  readonly bootIdFiles?: string;
}

/** Reads the machine's data below `root`; unreadable values are empty. */
export async function readMachine(root = "/", ids: MachineIdFiles = {}): Promise<Machine> {
  const { machineIdFiles = "etc/machine-id,var/lib/dbus/machine-id" } = ids;
  const { bootIdFiles = "proc/sys/kernel/random/boot_id" } = ids;
  const text = async (path: string): Promise<string> =>
    (await readFile(join(root, path), "utf8").catch(() => "")).trim();
  const first = async (...paths: readonly string[]): Promise<string> => {
    for (const path of paths) {
      const found = await text(path);
      if (found) return found;
    }
    return "";
  };
  const memory = await text("proc/meminfo");
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(memory)?.[1] ?? 0) * 1024;
  const machineId = await first(...machineIdFiles.split(","));
  return {
    cpus: cpus().length || availableParallelism(),
    ...(await topology(root)),
    memoryBytes: kilobytes("MemTotal"),
    swapBytes: kilobytes("SwapTotal"),
    hugepages: await hugepagesBelow(root),
    machineId,
    systemUuid:
      (
        await first(
          "sys/class/dmi/id/product_uuid",
          "proc/device-tree/system-id",
          "proc/device-tree/vm,uuid",
          "etc/machine-id",
        )
      ).replaceAll("\0", "") || machineId,
    bootId: await first(...bootIdFiles.split(",")),
    kernelVersion: await text("proc/sys/kernel/osrelease"),
    osImage: prettyName(await first("etc/os-release", "usr/lib/os-release")),
    architecture: architectures[process.arch] ?? process.arch,
    maxPids: Math.min(
      Number((await text("proc/sys/kernel/pid_max")) || Infinity),
      Number((await text("proc/sys/kernel/threads-max")) || Infinity),
    ),
    appArmor: (await text("sys/module/apparmor/parameters/enabled")) === "Y",
    selinux: (await text("sys/fs/selinux/policyvers")) !== "",
  };
}

const prettyName = (osRelease: string): string =>
  /^PRETTY_NAME=["']?(.*?)["']?$/m.exec(osRelease)?.[1] ?? "Linux";

/** Counts cores and sockets from the CPU topology. */
async function topology(root: string): Promise<{ readonly cores: number; readonly sockets: number }> {
  const folder = join(root, "sys/devices/system/cpu");
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^cpu\d+$/.test(name));
  const id = async (name: string, file: string): Promise<string> =>
    (await readFile(join(folder, name, "topology", file), "utf8").catch(() => "")).trim();
  const places = await Promise.all(
    names.map(async (name) => ({
      socket: await id(name, "physical_package_id"),
      core: await id(name, "core_id"),
    })),
  );
  return {
    cores: new Set(places.map(({ socket, core }) => `${socket}/${core}`)).size,
    sockets: new Set(places.map(({ socket }) => socket)).size,
  };
}

async function hugepagesBelow(root: string): Promise<Hugepages[]> {
  const folder = join(root, "sys/kernel/mm/hugepages");
  const names = await readdir(folder).catch(() => []);
  const found: Hugepages[] = [];
  for (const name of names) {
    const kilobytes = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0);
    if (kilobytes === 0) continue;
    const count = Number(await readFile(join(folder, name, "nr_hugepages"), "utf8").catch(() => "0"));
    found.push({ size: kernelSize(kilobytes), pageBytes: kilobytes * 1024, count });
  }
  return found.toSorted((a, b) => b.pageBytes - a.pageBytes);
}

function kernelSize(kilobytes: number): string {
  if (kilobytes >= 1024 * 1024) return `${kilobytes / 1024 / 1024}GB`;
  return kilobytes >= 1024 ? `${kilobytes / 1024}MB` : `${kilobytes}KB`;
}

export interface Filesystem {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  /** Including blocks reserved for root: the used space is the capacity minus this. */
  readonly freeBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

const statMilliseconds = 5000;

/**
 * Returns the same as filesystemOf, from a child process that is killed if the file server does not respond.
 */
export async function remoteFilesystemOf(path: string): Promise<Filesystem> {
  // Block size, blocks, free blocks, available blocks, inodes, free inodes.
  const { stdout } = await promisify(execFile)("stat", ["-f", "-c", "%S %b %f %a %c %d", path], {
    timeout: statMilliseconds,
    killSignal: "SIGKILL",
  });
  const [size = 0, blocks = 0, free = 0, available = 0, inodes = 0, inodesFree = 0] = stdout
    .trim()
    .split(" ")
    .map(Number);
  return {
    capacityBytes: size * blocks,
    availableBytes: size * available,
    freeBytes: size * free,
    inodes,
    inodesFree,
  };
}

/** Returns the stats of the file system that holds a local path. */
export async function filesystemOf(path: string): Promise<Filesystem> {
  const { bsize, blocks, bavail, bfree, files, ffree } = await statfs(path);
  return {
    capacityBytes: bsize * blocks,
    availableBytes: bsize * bavail,
    freeBytes: bsize * bfree,
    inodes: files,
    inodesFree: ffree,
  };
}

/** Returns the number of existing processes and threads. */
export async function runningProcesses(root = "/"): Promise<number> {
  const load = await readFile(join(root, "proc/loadavg"), "utf8");
  return Number(/\/(\d+) /.exec(load)?.[1] ?? 0);
}
