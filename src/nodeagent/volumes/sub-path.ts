// Binds a path inside a volume to a directory of the agent, so that nothing in the volume can lead a
// container out of it.
//
// The path is walked one component at a time from an open directory, never through a symbolic link; the open
// file is bound, not its name.
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Mounter } from "./mounter.ts";

const pathOnly = 0o10000000;
const { O_NOFOLLOW: noFollow, O_DIRECTORY: folderOnly } = constants;

/**
 * Opens a path inside the volume, creating missing directories. Throws if it resolves to outside the volume.
 */
export async function openInside(volume: string, path: string): Promise<FileHandle> {
  const base = await realpath(volume);
  const found = await resolved(join(base, path));
  const inside = relative(base, found.existing);
  if (inside === ".." || inside.startsWith("../"))
    throw new Error(`the path ${JSON.stringify(path)} leads out of the volume`);
  let at = await open(base, pathOnly | noFollow | folderOnly);
  try {
    for (const part of inside === "" ? [] : inside.split("/")) at = await step(at, part);
    const { mode } = await stat(base);
    for (const part of found.missing) {
      await mkdir(below(at, part), { mode: mode & 0o777 }).catch((error: unknown) => {
        if ((error as { code?: string }).code !== "EEXIST") throw error;
      });
      at = await step(at, part);
      await chmodOpen(at, mode & 0o7777);
    }
    return at;
  } catch (error) {
    await at.close().catch(() => undefined);
    throw error;
  }
}

const below = (folder: FileHandle, part: string): string => `/proc/self/fd/${folder.fd}/${part}`;

async function step(folder: FileHandle, part: string): Promise<FileHandle> {
  const next = await open(below(folder, part), pathOnly | noFollow);
  await folder.close();
  const isLink = (await next.stat()).isSymbolicLink();
  if (isLink) {
    await next.close();
    throw new Error(`${part} became a symbolic link during path resolution`);
  }
  return next;
}

async function chmodOpen(folder: FileHandle, mode: number): Promise<void> {
  const opened = await open(`/proc/self/fd/${folder.fd}`, folderOnly);
  try {
    await opened.chmod(mode);
  } finally {
    await opened.close();
  }
}

/** Returns the real path of the existing part, and the components that do not exist. */
async function resolved(path: string): Promise<{ existing: string; missing: string[] }> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return { existing: await realpath(at), missing };
    } catch (error) {
      if ((error as { code?: string }).code !== "ENOENT") throw error;
      // A dangling link must not be followed when its target is created.
      if (await exists(at)) throw new Error(`${at} is a dangling symbolic link`, { cause: error });
      missing.unshift(at.slice(dirname(at).length + 1));
    }
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await (await open(path, pathOnly | noFollow)).close();
    return true;
  } catch {
    return false;
  }
}

/** Binds a path inside the volume to the target. A target that already shows the same file is left alone. */
export async function bindInside(
  mounter: Mounter,
  volume: string,
  path: string,
  target: string,
): Promise<void> {
  const source = await openInside(volume, path);
  try {
    const { dev, ino, ...kind } = await source
      .stat()
      .then((stats) => ({ dev: stats.dev, ino: stats.ino, isFolder: stats.isDirectory() }));
    if ((await mounter.below(target)).includes(target)) {
      const shown = await stat(target).catch(() => undefined);
      if (shown && shown.dev === dev && shown.ino === ino) return;
      await mounter.unmount(target);
    }
    await mkdir(dirname(target), { recursive: true, mode: 0o750 });
    if (kind.isFolder) await mkdir(target, { recursive: true, mode: 0o750 });
    else await writeFile(target, "", { flag: "a", mode: 0o640 });
    await mounter.bind(`/proc/${process.pid}/fd/${source.fd}`, target);
  } finally {
    await source.close();
  }
}
