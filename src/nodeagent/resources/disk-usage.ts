// Disk usage of a directory tree, without following symbolic links or crossing file systems.
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface DiskUsage {
  readonly bytes: number;
  readonly inodes: number;
}

const blockBytes = 512;

/** Files that vanish meanwhile are ignored. A file with several hard links counts once. */
export async function diskUsage(root: string): Promise<DiskUsage> {
  const top = await lstat(root).catch(() => undefined);
  if (!top) return { bytes: 0, inodes: 0 };
  const seen = new Set<number>([top.ino]);
  let [bytes, inodes] = [top.blocks * blockBytes, 1];
  const folders = top.isDirectory() ? [root] : [];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      const found = await lstat(path).catch(() => undefined);
      if (!found || found.dev !== top.dev || seen.has(found.ino)) continue;
      if (found.nlink > 1 || found.isDirectory()) seen.add(found.ino);
      bytes += found.blocks * blockBytes;
      inodes++;
      if (found.isDirectory()) folders.push(path);
    }
  }
  return { bytes, inodes };
}
