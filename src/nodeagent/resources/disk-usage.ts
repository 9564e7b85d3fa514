// Disk usage of a directory tree, without following symbolic links or crossing file systems.
import { execFile } from "node:child_process";
import { lstat, readdir } from "node:fs/promises";

export interface DiskUsage {
  readonly bytes: number;
  readonly inodes: number;
}

const blockBytes = 512;
/**
 * Longest path of a directory that is read here. The kernel rejects paths of more than 4095 bytes, and containers can
 * create directories of any depth: these are left to `du`, which changes into them.
 */
const longPathBytes = 2048;

/**
 * Files that vanish meanwhile are ignored. A file with several hard links counts once. Names are bytes, since
 * containers need not choose valid text.
 */
export async function diskUsage(root: string): Promise<DiskUsage> {
  const top = await lstat(root).catch(() => undefined);
  if (!top) return { bytes: 0, inodes: 0 };
  const seen = new Set<number>([top.ino]);
  let [bytes, inodes] = [top.blocks * blockBytes, 1];
  const folders = top.isDirectory() ? [Buffer.from(root)] : [];
  const deep: Buffer[] = [];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of await readdir(folder, { encoding: "buffer" }).catch(() => [])) {
      const path = Buffer.concat([folder, slash, name]);
      const found = await lstat(path).catch(() => undefined);
      if (!found || found.dev !== top.dev || seen.has(found.ino)) continue;
      if (found.nlink > 1 || found.isDirectory()) seen.add(found.ino);
      if (found.isDirectory() && path.length > longPathBytes) {
        deep.push(path);
        continue;
      }
      bytes += found.blocks * blockBytes;
      inodes++;
      if (found.isDirectory()) folders.push(path);
    }
  }
  if (deep.length === 0) return { bytes, inodes };
  return {
    bytes: bytes + (await totalOf(deep, "--block-size=1")),
    inodes: inodes + (await totalOf(deep, "--inodes")),
  };
}

export const sumOfUsage = (parts: readonly DiskUsage[]): DiskUsage => ({
  bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
  inodes: parts.reduce((sum, { inodes }) => sum + inodes, 0),
});

const slash = Buffer.from("/");

/** Returns the total that `du` reports for these directories; 0 if the program is missing. */
function totalOf(folders: readonly Buffer[], unit: string): Promise<number> {
  return new Promise((resolve) => {
    const args = ["--one-file-system", "--summarize", "--total", "--files0-from=-", unit];
    // Directories that vanish meanwhile let the program fail after it has printed the total.
    const child = execFile("du", args, { maxBuffer: Infinity, encoding: "latin1" }, (_error, stdout) =>
      resolve(Number(/(\d+)\ttotal\n$/.exec(stdout)?.[1] ?? 0)),
    );
    child.stdin!.on("error", () => undefined);
    child.stdin!.end(Buffer.concat(folders.map((folder) => Buffer.concat([folder, Buffer.of(0)]))));
  });
}
