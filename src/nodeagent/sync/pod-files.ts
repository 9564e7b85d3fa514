// The folder of each pod on the node: its hosts file and the files in which containers leave their last words.
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LeftBehind } from "../seams.ts";

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
}

export function podFiles(rootFolder: string): PodFiles {
  const podsFolder = join(rootFolder, "pods");
  const folderOf = (podUid: string): string => join(podsFolder, podUid);
  return {
    podsFolder,
    folderOf,
    prepare: async (podUid) => {
      for (const name of ["", "volumes", "plugins"]) await mkdir(join(folderOf(podUid), name), { recursive: true, mode: 0o750 });
    },
    writeHosts: async (podUid, text) => {
      const path = join(folderOf(podUid), "etc-hosts");
      if ((await readFile(path, "utf8").catch(() => undefined)) !== text) {
        // In place: containers that run have this very file mounted.
        await writeFile(path, text, { mode: 0o644 });
        await chmod(path, 0o644);
      }
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
      const mounted = (await readFile("/proc/self/mountinfo", "utf8").catch(() => "")).split("\n").find((line) => (line.split(" ")[4] ?? "").startsWith(`${folder}/`));
      if (mounted !== undefined) throw new Error(`${mounted.split(" ")[4]} is still mounted`);
      for (const name of ["containers", "plugins", "etc-hosts"]) await rm(join(folder, name), { recursive: true, force: true });
      await removeEmpty(folder).catch((error: unknown) => {
        throw new LeftBehind((error as Error).message, { cause: error });
      });
    },
    podUids: () => readdir(podsFolder).catch(() => []),
    prepareLogs: async (folder) => void (await mkdir(folder, { recursive: true, mode: 0o755 })),
    lastLog: async (folder) => {
      const names = await readdir(folder).catch(() => []);
      return Math.max(-1, ...names.map((name) => /^(\d+)\.log/.exec(name)).map((found) => (found ? Number(found[1]) : -1)));
    },
    removeLogs: (folder) => rm(folder, { recursive: true, force: true }),
  };
}

/** Removes a tree of empty folders; a file in it is an error. */
async function removeEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (!entries) return;
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(folder, entry.name));
  await rmdir(folder);
}
