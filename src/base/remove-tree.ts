// Removes directory trees that other programs have written, such as containers in their volumes: names are bytes that
// need not be valid text, and paths may be longer than the kernel accepts.
import { randomUUID } from "node:crypto";
import { lstat, readdir, rename, rmdir, unlink } from "node:fs/promises";

/**
 * The length from which paths are shortened while a tree is removed. The kernel rejects paths of more than 4095
 * bytes, and containers can create directories of any depth.
 */
const longPathBytes = 2048;

/** Removes a file or a directory with everything in it, unless a part of it is on another file system. */
export async function removeTree(path: string): Promise<void> {
  const top = Buffer.from(path);
  const { dev: device } = await lstat(top);
  /** Directories that were too deep, moved to the top. */
  const moved: Buffer[] = [];
  const found = await removeEntry(top);
  for (let next = moved.pop(); next; next = moved.pop()) await removeEntry(next);
  if (found === "directory") await rmdir(top);

  async function removeEntry(entry: Buffer): Promise<"directory" | "file"> {
    const { dev, isDirectory } = await lstat(entry).then((stats) => ({
      dev: stats.dev,
      isDirectory: stats.isDirectory(),
    }));
    if (dev !== device) throw new Error(`${String(entry)} is on another file system`);
    if (!isDirectory) {
      await unlink(entry);
      return "file";
    }
    if (entry.length > longPathBytes) {
      const shorter = below(top, Buffer.from(`..removed-${randomUUID()}`));
      await rename(entry, shorter);
      moved.push(shorter);
      return "directory";
    }
    for (const name of await readdir(entry, { encoding: "buffer" })) await removeEntry(below(entry, name));
    if (entry !== top) await rmdir(entry);
    return "directory";
  }
}

const below = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, Buffer.from("/"), name]);
