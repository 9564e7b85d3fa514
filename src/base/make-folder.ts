// Folders with all that lead to them. The system's own recursive way asks for ever where a file system
// answers that a folder it was asked to make is not there, as process and device file systems do.
import { mkdirSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Makes what is missing of a path, for its owner only. Throws what the system says of the first folder that
 * cannot be made.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isFolder(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (!isTaken(error)) throw error;
      // Somebody else may have made it in the meantime.
      if (!isFolder(folder)) throw notFolder(folder, error);
    }
  }
}

/** The same without waiting for the disk, for folders that others may read, too. */
export async function makeFolderAsync(path: string, mode: number): Promise<void> {
  const missing: string[] = [];
  for (let at = resolve(path); !(await isFolderAsync(at)); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) {
    await mkdir(folder, { mode }).catch(async (error: unknown) => {
      if (!isTaken(error)) throw error;
      if (!(await isFolderAsync(folder))) throw notFolder(folder, error);
    });
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const isFolderAsync = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
const notFolder = (path: string, cause: unknown): Error => new Error(`${path} is not a directory`, { cause });
const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EEXIST";
