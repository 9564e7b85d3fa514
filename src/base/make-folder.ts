// Creates directories with their parents. Node's recursive mkdir loops forever on file systems that answer
// ENOENT to a mkdir, as the process and device file systems do.
import { mkdirSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Creates the missing directories of a path, accessible to their owner only. Throws the system's error for
 * the first directory that cannot be created.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isFolder(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (!isTaken(error)) throw error;
      // Another process may have created it in the meantime.
      if (!isFolder(folder)) throw notFolder(folder, error);
    }
  }
}

/** The asynchronous variant, with a mode that can give others access. */
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
