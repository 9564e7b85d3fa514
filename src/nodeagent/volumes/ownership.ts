// Gives a volume to a group: everything in it can be read, and written where the volume can, by the group.
// Entries are changed through open descriptors, never by name: whoever shares the volume may put a symbolic
// link in the place of a file at any moment.
import { constants } from "node:fs";
import { type FileHandle, chmod, chown, open, readdir } from "node:fs/promises";

export interface GroupOptions {
  readonly readOnly?: boolean;
  /** Leave the volume alone when its top folder already is as it should be. */
  readonly onlyOnMismatch?: boolean;
}

/** O_PATH: names the entry itself, a link as well, and opens nothing. */
const pathOnly = 0o10000000;
const { O_NOFOLLOW: noFollow } = constants;
const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

export async function giveToGroup(
  root: string,
  group: number,
  { readOnly = false, onlyOnMismatch = false }: GroupOptions = {},
): Promise<void> {
  const wanted = readOnly ? 0o440 : 0o660;
  await using top = await open(root, pathOnly | noFollow);
  const { gid, mode, dev } = await top.stat();
  const needed = 0o2110 | wanted;
  if (onlyOnMismatch && gid === group && (mode & needed) === needed) return;
  await give(top, { group, wanted, device: dev });
}

async function give(
  entry: FileHandle,
  rule: { readonly group: number; readonly wanted: number; readonly device: number },
): Promise<void> {
  const stats = await entry.stat();
  if (stats.dev !== rule.device) return;
  const path = pathOf(entry);
  // The path stands for the entry itself: a link gets the group, and what it names does not.
  if (stats.gid !== rule.group) await chown(path, stats.uid, rule.group);
  if (stats.isSymbolicLink()) return;
  const mode = stats.mode & 0o7777;
  const bits = mode | rule.wanted | (stats.isDirectory() ? 0o2110 : 0);
  // A change of owner takes the bits of set-group away.
  if (bits !== mode || stats.gid !== rule.group) await chmod(path, bits);
  if (!stats.isDirectory()) return;
  for (const name of await readdir(path)) {
    const child = await open(`${path}/${name}`, pathOnly | noFollow).catch(unlessGone);
    if (!child) continue;
    try {
      await give(child, rule);
    } finally {
      await child.close();
    }
  }
}

/** What was removed meanwhile needs no group. */
function unlessGone(error: unknown): undefined {
  if ((error as { code?: string }).code !== "ENOENT") throw error;
  return undefined;
}
