// The directory of each pod on the node, with its hosts file and the termination message files of its
// containers.
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, readdir, rmdir, unlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { LeftoverError } from "../interfaces.ts";
import type { LogLinks } from "./log-links.ts";
import { mountPointsBelow } from "../volumes/mounter.ts";

export interface PodFiles {
  readonly podsFolder: string;
  folderOf(podUid: string): string;
  /** Creates the pod's directories. */
  prepare(podUid: string): Promise<void>;
  /** Writes the pod's hosts file; resolves with its path. */
  writeHosts(podUid: string, text: string): Promise<string>;
  /** Creates an empty termination message file; resolves with its path. */
  messageFile(podUid: string, container: string): Promise<string>;
  /** Removes the directory. Mounts and foreign files in it are kept and reported as an error. */
  remove(podUid: string): Promise<void>;
  /** Lists the uids of pods that have a directory. */
  podUids(): Promise<string[]>;
  /** Creates a log directory. */
  prepareLogs(folder: string): Promise<void>;
  /** Returns the number of the newest log in a container's log directory; -1 without logs. */
  lastLog(folder: string): Promise<number>;
  removeLogs(folder: string): Promise<void>;
  /** Removes the log of one container with its rotated parts. */
  removeLog(path: string): Promise<void>;
  /** Removes the log directories of a pod of which only the uid is known. */
  removeLogsOf(podUid: string): Promise<void>;
  /** Links to the logs of all containers, for log collectors. */
  readonly logLinks?: LogLinks;
}

/** Lists the uids of pods that have a directory below an agent's root directory. */
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
      // Written in place, since running containers have this very file mounted.
      if (!isNew) await writeFile(path, text, { mode: 0o644 });
      await chmod(path, 0o644);
      return path;
    },
    messageFile: async (podUid, container) => {
      const folder = join(folderOf(podUid), "containers", container);
      await mkdir(folder, { recursive: true, mode: 0o750 });
      const path = join(folder, randomBytes(4).toString("hex"));
      await writeFile(path, "", { mode: 0o666 });
      // Any container user must be able to write, regardless of this process's umask.
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
    removeLog: async (path) => {
      if (!path.startsWith(`${logsFolder}/`)) return;
      const [folder, name] = [dirname(path), basename(path)];
      for (const each of await readdir(folder).catch(() => []))
        if (each === name || each.startsWith(`${name}.`))
          await unlink(join(folder, each)).catch(ignoreAbsent);
    },
    removeLogsOf: async (podUid) => {
      for (const name of await readdir(logsFolder).catch(() => []))
        if (name.endsWith(`_${podUid}`)) await removeLogs(join(logsFolder, name));
    },
  };
}

const ignoreAbsent = (error: unknown): void => {
  if ((error as { code?: string }).code !== "ENOENT") throw error;
};

/** Removes a directory tree owned by the agent, if it exists; symbolic links are not followed. */
async function removeAll(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(ignoreAbsent);
  if (!entries) return;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    await (entry.isDirectory() ? removeAll(path) : unlink(path).catch(ignoreAbsent));
  }
  await rmdir(folder).catch(ignoreAbsent);
}

/** Removes a tree of empty directories; any file in it is an error. */
async function removeEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (!entries) return;
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(folder, entry.name));
  await rmdir(folder);
}
