// The folder of a cluster: made where it is missing, and held by one `orch up` at a time.
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { StoreLocked, lockStore } from "#store";

/** Takes the folder; the returned function gives it back. Undefined when another process has it; throws what keeps it from being used. */
export function claimFolder(folder: string): (() => void) | undefined {
  try {
    makeFolder(folder);
    return lockStore(folder);
  } catch (error) {
    if (error instanceof StoreLocked) return undefined;
    throw new Error(`${folder} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

/** One by one: all at once, Node names a wrong reason on a read-only disk, and comes to no end below /proc. */
function makeFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw new Error("it is not a directory");
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}
