// The folder of each pod on the node: its hosts file and the files in which containers leave their last
// words.
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, readdir, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LeftoverError } from "../interfaces.ts";
import type { LogLinks } from "./log-links.ts";
import { mountPointsBelow } from "../volumes/mounter.ts";

export interface PodFiles {
  readonly podsFolder: string;
  folderOf(podUid: string): string;
  /** Makes the pod's folders. */
  prepare(podUid: string): Promise<void>;
  /** Writes the pod's hosts file; gives its path. */
  writeHosts(podUid: string, text: string): Promise<string>;
  /** Makes an empty file for a container's last words; gives its path. */
  messageFile(podUid: string, container: string): Promise<string>;
  /** Removes the folder. Whatever is mounted or was put there by others stays, and is told as an error. */
  remove(podUid: string): Promise<void>;
  /** Uids that have a folder. */
  podUids(): Promise<string[]>;
  /** Makes a folder for logs. */
  prepareLogs(folder: string): Promise<void>;
  /** The number of the newest log in a container's folder of logs; -1 when there is none. */
  lastLog(folder: string): Promise<number>;
  removeLogs(folder: string): Promise<void>;
  /** Removes the folders of logs of a pod of which only the uid is known. */
  removeLogsOf(podUid: string): Promise<void>;
  /** Where log collectors look for the logs of all containers. */
  readonly logLinks?: LogLinks;
}

/** Uids of pods that have a directory below an agent's root. */
export const podUidsBelow = (rootFolder: string): Promise<string[]> =>
  readdir(join(rootFolder, "pods")).catch(() => []);

export function podFiles(rootFolder: string, logsFolder: string, links?: LogLinks): PodFiles {
  const removeLogs = async (folder: string): Promise<void> => {
    await removeAll(folder);
    await links?.unlinkBelow(folder);
  };
  const podsFolder = join(rootFolder, "pods");
  const folderOf = (podUid: string): string => join(podsFolder, podUid);
  return {
    podsFolder,
    folderOf,
    prepare: async (podUid) => {
      for (const name of ["volumes", "plugins"])
        await mkdir(join(folderOf(podUid), name), { recursive: true, mode: 0o750 });
    },
    writeHosts: async (podUid, text) => {
      const path = join(folderOf(podUid), "etc-hosts");
      const isNew = await writeFile(path, text, { mode: 0o644, flag: "wx" }).then(
        () => true,
        () => false,
      );
      if (!isNew && (await readFile(path, "utf8").catch(() => undefined)) === text) return path;
      // In place: containers that run have this very file mounted.
      if (!isNew) await writeFile(path, text, { mode: 0o644 });
      await chmod(path, 0o644);
      return path;
    },
    messageFile: async (podUid, container) => {
      const folder = join(folderOf(podUid), "containers", container);
      await mkdir(folder, { recursive: true, mode: 0o750 });
      const path = join(folder, randomBytes(4).toString("hex"));
      await writeFile(path, "", { mode: 0o666 });
      // Whoever the container runs as may write; the mask of this process must not say otherwise.
      await chmod(path, 0o666);
      return path;
    },
    remove: async (podUid) => {
      const folder = folderOf(podUid);
      const [mounted] = mountPointsBelow(
        await readFile("/proc/self/mountinfo", "utf8").catch(() => ""),
        folder,
      ).filter((point) => point !== folder);
      if (mounted !== undefined) throw new Error(`${mounted} is still mounted`);
      for (const name of ["containers", "plugins"]) await removeAll(join(folder, name));
      for (const name of ["etc-hosts", "userns"]) await unlink(join(folder, name)).catch(ignoreAbsent);
      await removeEmpty(folder).catch((error: unknown) => {
        throw new LeftoverError((error as Error).message, { cause: error });
      });
    },
    podUids: () => podUidsBelow(rootFolder),
    prepareLogs: async (folder) => void (await mkdir(folder, { recursive: true, mode: 0o755 })),
    lastLog: async (folder) => {
      const names = await readdir(folder).catch(() => []);
      return Math.max(
        -1,
        ...names.map((name) => /^(\d+)\.log/.exec(name)).map((found) => (found ? Number(found[1]) : -1)),
      );
    },
    ...(links && { logLinks: links }),
    removeLogs,
    removeLogsOf: async (podUid) => {
      for (const name of await readdir(logsFolder).catch(() => []))
        if (name.endsWith(`_${podUid}`)) await removeLogs(join(logsFolder, name));
    },
  };
}

const ignoreAbsent = (error: unknown): void => {
  if ((error as { code?: string }).code !== "ENOENT") throw error;
};

/** Removes a tree that is ours, if it is there; links in it are not followed. */
async function removeAll(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(ignoreAbsent);
  if (!entries) return;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    await (entry.isDirectory() ? removeAll(path) : unlink(path).catch(ignoreAbsent));
  }
  await rmdir(folder).catch(ignoreAbsent);
}

/** Removes a tree of empty folders; a file in it is an error. */
async function removeEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (!entries) return;
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(folder, entry.name));
  await rmdir(folder);
}
