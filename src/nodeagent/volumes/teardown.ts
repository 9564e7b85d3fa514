// Tears down a pod's volumes: unmounts first, then removes only what the agent created, and never across a
// mount.
import { lstat, readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "#base";
import { LeftoverError } from "../interfaces.ts";
import type { Mounter } from "./mounter.ts";

/**
 * Volume types whose files belong to the agent or the pod alone. For all others only the empty mount point is
 * removed.
 */
export const ownedKinds = [
  "empty-dir",
  "configmap",
  "secret",
  "projected",
  "downward-api",
  "git-repo",
] as const;

/** Unmounts everything at or below a path in reverse mount order; throws if anything stays mounted. */
export async function unmountBelow(mounter: Mounter, path: string): Promise<void> {
  const points = await mounter.below(path);
  for (const point of points.toReversed()) await mounter.unmount(point);
  const [still] = points.length > 0 ? await mounter.below(path) : [];
  if (still !== undefined) throw new Error(`${still} is still mounted`);
}

/**
 * Removes `volumes`, `volumeDevices` and `volume-subpaths` of a pod's directory; `undo` runs the teardown of
 * volume plugins. Throws if something cannot be unmounted, and LeftoverError if only foreign files are left.
 */
export async function teardownVolumes(
  mounter: Mounter,
  podFolder: string,
  undo: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const volumes = join(podFolder, "volumes");
  const subPaths = join(podFolder, "volume-subpaths");
  // The mount table grows with the number of pods: most pods need only one read of it.
  const isMounted = (await mounter.below(podFolder)).length > 0;
  // Sub paths are bound to volumes, so they are unmounted first.
  if (isMounted) await unmountBelow(mounter, subPaths);
  await undo();
  if (isMounted) await unmountBelow(mounter, volumes);
  // A volume that cannot be removed does not block the others.
  let left: Error | undefined;
  const attempt = (removed: Promise<void>): Promise<void> =>
    removed.catch((error: unknown) => void (left ??= error as Error));
  await attempt(removeEmpty(subPaths));
  await attempt(removeLinks(join(podFolder, "volumeDevices")));
  for (const kind of await namesIn(volumes)) {
    const isOwned = ownedKinds.some((owned) => kind.endsWith(`~${owned}`));
    for (const name of await namesIn(join(volumes, kind))) {
      const folder = join(volumes, kind, name);
      await attempt(isOwned ? removeTree(folder) : rmdir(folder));
    }
    await attempt(rmdir(join(volumes, kind)));
  }
  if (left) throw new LeftoverError(left.message, { cause: left });
}

const namesIn = async (folder: string): Promise<string[]> => await readdir(folder).catch(() => []);

/** Removes the symbolic links to devices. */
async function removeLinks(folder: string): Promise<void> {
  for (const kind of await namesIn(folder)) {
    for (const name of await namesIn(join(folder, kind))) {
      const path = join(folder, kind, name);
      if (!(await lstat(path)).isSymbolicLink()) throw new Error(`${path} was not created by the agent`);
      await unlink(path);
    }
    await rmdir(join(folder, kind));
  }
  await rmdir(folder).catch(unlessMissing);
}

/** Removes directories and empty files, the targets of bind mounts; anything else is an error. */
async function removeEmpty(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await removeEmpty(path);
    else if (entry.isFile() && (await lstat(path)).size === 0) await unlink(path);
    else throw new Error(`${path} was not created by the agent`);
  }
  await rmdir(folder).catch(unlessMissing);
}

const unlessMissing = (error: unknown): void => {
  if ((error as { code?: string }).code !== "ENOENT") throw error;
};
