// Gives a volume to a group: everything in it becomes readable by the group, and writable unless the volume
// is read-only. Entries are changed through open descriptors, never by name, since a process sharing the
// volume may replace a file by a symbolic link at any moment.
import { constants } from "node:fs";
import { type FileHandle, chmod, chown, open, readdir } from "node:fs/promises";

export interface GroupOptions {
  readonly readOnly?: boolean;
  /** Leave the volume alone if its root directory already has the wanted group and mode. */
  readonly onlyOnMismatch?: boolean;
}

/** O_PATH: refers to the entry itself, even a symbolic link, without opening its content. */
const pathOnly = 0o10000000;
const { O_NOFOLLOW: noFollow } = constants;
const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

export async function setGroupRecursively(
  root: string,
  group: number,
  { readOnly = false, onlyOnMismatch = false }: GroupOptions = {},
): Promise<void> {
  const wanted = readOnly ? 0o440 : 0o660;
  await using top = await open(root, pathOnly | noFollow);
  const { gid, mode, dev } = await top.stat();
  const needed = 0o2110 | wanted;
  if (onlyOnMismatch && gid === group && (mode & needed) === needed) return;
  await setGroupOfEntry(top, { group, wanted, device: dev });
}

async function setGroupOfEntry(
  entry: FileHandle,
  rule: { readonly group: number; readonly wanted: number; readonly device: number },
): Promise<void> {
  const stats = await entry.stat();
  if (stats.dev !== rule.device) return;
  const path = pathOf(entry);
  // The path refers to the entry itself: a symbolic link gets the group, its target does not.
  if (stats.gid !== rule.group) await chown(path, stats.uid, rule.group);
  if (stats.isSymbolicLink()) return;
  const mode = stats.mode & 0o7777;
  const bits = mode | rule.wanted | (stats.isDirectory() ? 0o2110 : 0);
  // chown clears the setgid bit.
  if (bits !== mode || stats.gid !== rule.group) await chmod(path, bits);
  if (!stats.isDirectory()) return;
  // Names are bytes, since containers need not choose valid text.
  for (const name of await readdir(path, { encoding: "buffer" })) {
    const below = Buffer.concat([Buffer.from(`${path}/`), name]);
    const child = await open(below, pathOnly | noFollow).catch(unlessGone);
    if (!child) continue;
    try {
      await setGroupOfEntry(child, rule);
    } finally {
      await child.close();
    }
  }
}

/** Ignores entries removed in the meantime. */
function unlessGone(error: unknown): undefined {
  if ((error as { code?: string }).code !== "ENOENT") throw error;
  return undefined;
}
