// Gives a volume to a group: everything in it can be read, and written where the volume can, by the group.
import { chmod, lchown, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface GroupOptions {
  readonly readOnly?: boolean;
  /** Leave the volume alone when its top folder already is as it should be. */
  readonly onlyOnMismatch?: boolean;
}

export async function giveToGroup(
  root: string,
  group: number,
  { readOnly = false, onlyOnMismatch = false }: GroupOptions = {},
): Promise<void> {
  const wanted = readOnly ? 0o440 : 0o660;
  if (onlyOnMismatch) {
    const { gid, mode } = await lstat(root);
    const needed = 0o2110 | wanted;
    if (gid === group && (mode & needed) === needed) return;
  }
  await give(root, group, wanted, (await lstat(root)).dev);
}

async function give(path: string, group: number, wanted: number, device: number): Promise<void> {
  const { uid, gid, mode, dev, ...kind } = await lstat(path).then((stats) => ({
    uid: stats.uid,
    gid: stats.gid,
    mode: stats.mode & 0o7777,
    dev: stats.dev,
    isLink: stats.isSymbolicLink(),
    isFolder: stats.isDirectory(),
  }));
  if (dev !== device) return;
  if (gid !== group) await lchown(path, uid, group);
  if (kind.isLink) return;
  const bits = mode | wanted | (kind.isFolder ? 0o2110 : 0);
  // A change of owner takes the bits of set-group away.
  if (bits !== mode || gid !== group) await chmod(path, bits);
  if (kind.isFolder)
    for (const name of await readdir(path)) await give(join(path, name), group, wanted, device);
}
