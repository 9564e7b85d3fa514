// Symbolic links to the logs of all containers in one directory, as expected by log collectors:
//   /var/log/containers/<pod>_<namespace>_<container>-<id>.log
import { readdir, readlink, stat, symlink, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { makeFolderAsync } from "#base";

export interface LogLinks {
  /** Creates the link if the log exists. */
  link(name: string, log: string): Promise<void>;
  /** Removes the links into a removed log directory. */
  unlinkBelow(logFolder: string): Promise<void>;
  /** Removes dangling links. */
  sweep(): Promise<void>;
}

export interface LinkedLog {
  readonly pod: string;
  readonly namespace: string;
  readonly container: string;
  readonly containerId: string;
}

const suffix = ".log";
/** Maximum length of a file name. */
const maxNameLength = 255;

export const logLinkName = ({ pod, namespace, container, containerId }: LinkedLog): string =>
  `${pod}_${namespace}_${container}-${containerId}`.slice(0, maxNameLength - suffix.length) + suffix;

export function logLinks(folder: string): LogLinks {
  const names = (): Promise<string[]> => readdir(folder).catch(() => []);
  const remove = (name: string): Promise<void> => unlink(join(folder, name)).catch(() => undefined);
  return {
    link: async (name, log) => {
      const exists = await stat(log).then(
        () => true,
        () => false,
      );
      if (!exists) return;
      await makeFolderAsync(folder, 0o755);
      await symlink(log, join(folder, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
    },
    unlinkBelow: async (logFolder) => {
      // Directories are named <namespace>_<pod>_<uid>.
      const [namespace = "", pod = ""] = basename(logFolder).split("_");
      for (const name of await names()) {
        if (!name.startsWith(`${pod}_${namespace}_`)) continue;
        const target = await readlink(join(folder, name)).catch(() => "");
        if (target.startsWith(`${logFolder}/`)) await remove(name);
      }
    },
    sweep: async () => {
      for (const name of await names()) {
        if (!name.endsWith(suffix)) continue;
        const target = await readlink(join(folder, name)).catch(() => undefined);
        if (target === undefined) continue;
        await stat(target).catch((error: NodeJS.ErrnoException) =>
          error.code === "ENOENT" ? remove(name) : undefined,
        );
      }
    },
  };
}
