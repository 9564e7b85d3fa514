// The data folder of a cluster: created if missing, and locked by one `orch up` at a time.
import { makeFolder } from "#base";
import { StoreLocked, lockStore } from "#store";

/**
 * Locks the folder; the returned function releases it. Returns undefined if another process holds it; throws
 * if it cannot be used.
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
