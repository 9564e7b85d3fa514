// The folder of a cluster: made where it is missing, and held by one `orch up` at a time.
import { makeFolder } from "#base";
import { StoreLocked, lockStore } from "#store";

/**
 * Takes the folder; the returned function gives it back. Undefined when another process has it; throws what
 * keeps it from being used.
 */
export function claimFolder(folder: string): (() => void) | undefined {
  try {
    makeFolder(folder);
    return lockStore(folder);
  } catch (error) {
    if (error instanceof StoreLocked) return undefined;
    throw new Error(`${folder} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}
