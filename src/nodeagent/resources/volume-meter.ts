// Measures volume usage. Measuring takes time, and an unavailable file server never responds: callers wait
// only briefly for either, and a pending measurement is not started a second time.
import { readFile } from "node:fs/promises";
import type { Clock } from "#base";
import { isNetworkMount } from "../volumes/mounter.ts";
import { type DiskUsage, diskUsage } from "./disk-usage.ts";
import { type Filesystem, filesystemOf, remoteFilesystemOf } from "./machine.ts";

export interface VolumeMeasure {
  readonly filesystem: Filesystem;
  readonly used: DiskUsage;
}

export interface VolumeMeterOptions {
  readonly clock: Clock;
  /** How long a measured usage is cached. */
  readonly goodForMilliseconds: number;
  /** Called with the duration of each measurement: of a directory walk, or of a statfs call. */
  readonly took?: (how: "du" | "statfs", milliseconds: number) => void;
  readonly filesystemOf?: typeof filesystemOf;
  readonly diskUsage?: typeof diskUsage;
  /** Reports whether a path lies on a network file system, which is never walked. */
  readonly isRemote?: (path: string) => Promise<boolean>;
  readonly remoteFilesystemOf?: typeof remoteFilesystemOf;
}

export interface VolumeMeter {
  /** Returns the current or last known usage of the directory; undefined if unknown. */
  measure(path: string): Promise<VolumeMeasure | undefined>;
  /** Drops the cached usage of all other directories. */
  keepOnly(paths: ReadonlySet<string>): void;
}

const patienceMilliseconds = 5000;

/** Returns all used space of the file system, which counts as a network volume's usage. */
const usedOf = ({ capacityBytes, freeBytes, inodes, inodesFree }: Filesystem): DiskUsage => ({
  bytes: capacityBytes - freeBytes,
  inodes: inodes - inodesFree,
});

export function volumeMeter(options: VolumeMeterOptions): VolumeMeter {
  const {
    clock,
    goodForMilliseconds,
    filesystemOf: getFilesystem = filesystemOf,
    diskUsage: getDiskUsage = diskUsage,
    isRemote = async (path) => isNetworkMount(await readFile("/proc/self/mountinfo", "utf8"), path),
    remoteFilesystemOf: getRemoteFilesystem = remoteFilesystemOf,
  } = options;
  const known = new Map<string, VolumeMeasure & { readonly countedAt: number }>();
  const pending = new Set<string>();

  async function timed<T>(how: "du" | "statfs", looking: Promise<T>): Promise<T> {
    const began = clock.monotonic();
    const found = await looking;
    options.took?.(how, clock.monotonic() - began);
    return found;
  }

  async function measurePath(path: string): Promise<VolumeMeasure | undefined> {
    pending.add(path);
    try {
      if (await isRemote(path)) {
        const filesystem = await timed("statfs", getRemoteFilesystem(path));
        const found = { filesystem, countedAt: clock.monotonic(), used: usedOf(filesystem) };
        known.set(path, found);
        return found;
      }
      const filesystem = await timed("statfs", getFilesystem(path));
      const old = known.get(path);
      const isGood = old !== undefined && clock.monotonic() - old.countedAt < goodForMilliseconds;
      const found = isGood
        ? { ...old, filesystem }
        : { filesystem, countedAt: clock.monotonic(), used: await timed("du", getDiskUsage(path)) };
      known.set(path, found);
      return found;
    } catch {
      known.delete(path);
      return undefined;
    } finally {
      pending.delete(path);
    }
  }

  return {
    measure: async (path) => {
      if (pending.has(path)) return known.get(path);
      const timeout = Promise.withResolvers<VolumeMeasure | undefined>();
      const cancel = clock.after(patienceMilliseconds, () => timeout.resolve(known.get(path)));
      try {
        return await Promise.race([measurePath(path), timeout.promise]);
      } finally {
        cancel();
      }
    },
    keepOnly: (paths) => {
      for (const path of known.keys()) if (!paths.has(path)) known.delete(path);
    },
  };
}
