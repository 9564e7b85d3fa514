// Updates the files of a volume atomically: the data lives in a timestamped directory that one symbolic link
// points to, and renaming that link switches all files at once.
//
//   volume/a            -> ..data/a
//   volume/..data       -> ..2024_01_02_03_04_05.123
//   volume/..2024_…123/a
import { randomInt } from "node:crypto";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join, posix } from "node:path";

export interface FileContent {
  readonly bytes: Uint8Array;
  readonly mode: number;
  /** Owner of the file, if not the agent's user. */
  readonly user?: number;
}

export type Payload = ReadonlyMap<string, FileContent>;

const dataLink = "..data";
const freshLink = "..data_tmp";

/**
 * Makes a directory contain exactly these files; reports whether anything changed. If a group is given, it
 * gets read access to everything.
 */
export async function writeAtomically(
  folder: string,
  payload: Payload,
  now: number,
  group?: number,
): Promise<boolean> {
  for (const path of payload.keys()) checkPath(path);
  const current = await readlink(join(folder, dataLink)).catch(() => undefined);
  if (current !== undefined && (await isUpToDate(join(folder, current), payload))) {
    await linkNames(folder, payload);
    return false;
  }
  const fresh = await freshFolder(folder, now);
  try {
    await chmod(join(folder, fresh), 0o755);
    for (const [path, content] of payload) await put(join(folder, fresh), path, content, group);
    if (group !== undefined) await setDirectoryGroup(join(folder, fresh), group);
    await link(fresh, join(folder, freshLink));
    await rename(join(folder, freshLink), join(folder, dataLink));
  } catch (error) {
    await rm(join(folder, fresh), { recursive: true, force: true });
    throw error;
  }
  for (const name of await linkNames(folder, payload)) {
    if (name.startsWith("..") && name !== dataLink && name !== fresh)
      await rm(join(folder, name), { recursive: true, force: true });
  }
  return true;
}

/** Creates a symbolic link, replacing one left behind by an interrupted update. */
async function link(target: string, path: string): Promise<void> {
  try {
    await symlink(target, path);
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
    await rm(path, { recursive: true, force: true });
    await symlink(target, path);
  }
}

function checkPath(path: string): void {
  const parts = path.split("/");
  if (path === "" || posix.isAbsolute(path) || parts.includes("..") || parts[0]!.startsWith(".."))
    throw new Error(
      `invalid path: ${JSON.stringify(path)} must be relative and not begin with or contain '..'`,
    );
}

async function freshFolder(folder: string, now: number): Promise<string> {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:T]/g, "_");
  for (;;) {
    const name = `..${stamp}.${randomInt(1_000_000_000)}`;
    try {
      await mkdir(join(folder, name), { mode: 0o755 });
      return name;
    } catch (error) {
      if ((error as { code?: string }).code !== "EEXIST") throw error;
    }
  }
}

async function put(
  root: string,
  path: string,
  { bytes, mode, user }: FileContent,
  group: number | undefined,
): Promise<void> {
  const file = join(root, path);
  if (path.includes("/")) await mkdir(dirname(file), { recursive: true, mode: 0o755 });
  if (group !== undefined)
    for (let at = dirname(file); at !== root; at = dirname(at)) await setDirectoryGroup(at, group);
  await writeFile(file, bytes, { mode });
  if (user !== undefined || group !== undefined)
    await chown(file, user ?? (await lstat(file)).uid, group ?? (await lstat(file)).gid);
  // After chown, which clears mode bits; explicit because of the process's umask.
  await chmod(file, group === undefined ? mode : mode | 0o440);
}

/** Sets the setgid bit, so that files created later in the directory belong to the group as well. */
export async function setDirectoryGroup(folder: string, group: number): Promise<void> {
  const { uid, mode } = await lstat(folder);
  await chown(folder, uid, group);
  await chmod(folder, (mode & 0o7777) | 0o2550);
}

async function isUpToDate(folder: string, payload: Payload): Promise<boolean> {
  const held = await filesBelow(folder);
  if (held.length !== payload.size) return false;
  for (const path of held) {
    const wanted = payload.get(path);
    if (!wanted) return false;
    const bytes = await readFile(join(folder, path));
    if (!bytes.equals(wanted.bytes)) return false;
  }
  return true;
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/**
 * Links the first component of every path to the data, and removes stale links. Resolves with the previous
 * directory entries.
 */
async function linkNames(folder: string, payload: Payload): Promise<readonly string[]> {
  const wanted = new Set([...payload.keys()].map((path) => path.split("/", 1)[0]!));
  const found = await readdir(folder);
  const held = found.filter((name) => !name.startsWith(".."));
  for (const name of wanted)
    if (!held.includes(name)) await symlink(join(dataLink, name), join(folder, name));
  for (const name of held) if (!wanted.has(name)) await unlink(join(folder, name));
  return found;
}
