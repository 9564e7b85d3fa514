// I/O counters of the machine's disks, and the device that holds a path.
import { readFile, readlink, stat } from "node:fs/promises";

export interface DiskCounts {
  /** As in `/dev/sda`. */
  readonly device: string;
  readonly reads: number;
  readonly readsMerged: number;
  readonly readSectors: number;
  readonly readMilliseconds: number;
  readonly writes: number;
  readonly writesMerged: number;
  readonly writtenSectors: number;
  readonly writeMilliseconds: number;
  readonly underWay: number;
  readonly busyMilliseconds: number;
  readonly weightedMilliseconds: number;
}

/** Returns the counters of all disks with any I/O since boot. */
export async function diskCounts(text?: string): Promise<DiskCounts[]> {
  const lines = (text ?? (await readFile("/proc/diskstats", "utf8").catch(() => ""))).split("\n");
  return lines.flatMap((line) => {
    const [, , name, ...figures] = line.trim().split(/\s+/);
    const n = figures.map(Number);
    if (name === undefined || n.length < 11 || (n[0] === 0 && n[4] === 0)) return [];
    return [
      {
        device: `/dev/${name}`,
        reads: n[0]!,
        readsMerged: n[1]!,
        readSectors: n[2]!,
        readMilliseconds: n[3]!,
        writes: n[4]!,
        writesMerged: n[5]!,
        writtenSectors: n[6]!,
        writeMilliseconds: n[7]!,
        underWay: n[8]!,
        busyMilliseconds: n[9]!,
        weightedMilliseconds: n[10]!,
      },
    ];
  });
}

/** Returns `/dev/sda` for a device number such as `8:0`. */
export async function deviceName(number: string): Promise<string> {
  const path = await readlink(`/sys/dev/block/${number}`).catch(() => number);
  return `/dev/${path.split("/").at(-1)}`;
}

/** Returns the device that holds a path. */
export async function deviceOf(path: string): Promise<string> {
  const { dev } = await stat(path);
  return await deviceName(`${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`);
}
