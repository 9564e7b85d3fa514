// Checkpoints as files in one directory: written to a temporary file, synced and renamed, so that a crash
// leaves either the old or the new content.
import { open, readFile, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolderAsync } from "#base";
import type { CheckpointStore } from "../interfaces.ts";

const safeName = /^[\w][\w.-]*$/;
const temporary = ".new";

export function checkpointStore(directory: string): CheckpointStore {
  const pathOf = (name: string): string => {
    if (!safeName.test(name)) throw new Error(`${JSON.stringify(name)} cannot name a checkpoint`);
    return join(directory, name);
  };
  const unlessMissing = (error: NodeJS.ErrnoException): undefined => {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  };
  return {
    read: (name) => readFile(pathOf(name), "utf8").catch(unlessMissing),
    write: async (name, text) => {
      const path = pathOf(name);
      await makeFolderAsync(directory, 0o750);
      const file = await open(`${path}${temporary}`, "w", 0o600);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}${temporary}`, path);
    },
    remove: async (name) => await rm(pathOf(name), { force: true }),
    names: async () => {
      const entries = (await readdir(directory, { withFileTypes: true }).catch(unlessMissing)) ?? [];
      return entries
        .filter((entry) => entry.isFile() && !entry.name.endsWith(temporary))
        .map(({ name }) => name)
        .toSorted();
    },
  };
}
