// A ballast file: it only takes up space, which is freed on a full disk so that the store can be opened, read and
// cleaned up. SQLite needs some space even to read a database that was closed cleanly.

import { randomFillSync } from "node:crypto";
import { closeSync, fstatSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

export const ballastFile = (dir: string): string => join(dir, "ballast");

const ballastBytes = 4 << 20;
const chunkBytes = 1 << 20;

export interface Ballast {
  /** Frees the space. Returns false if there was none to free. */
  release(): boolean;
  /** Takes the space if it is free, up to this much. */
  restore(maxBytes?: number): void;
}

export function openBallast(dir: string): Ballast {
  const file = ballastFile(dir);
  let isComplete = false;
  return {
    release: () => {
      isComplete = false;
      try {
        unlinkSync(file);
        return true;
      } catch {
        return false;
      }
    },
    restore: (maxBytes = ballastBytes) => {
      if (isComplete) return;
      // If this fails, it is not tried again with each write.
      isComplete = true;
      fill(file, Math.min(ballastBytes, maxBytes));
    },
  };
}

/** Extends the file with random bytes, which take space in file systems that compress as well. */
function fill(file: string, bytes: number): void {
  const handle = openSync(file, "a", 0o600);
  try {
    let missing = bytes - fstatSync(handle).size;
    const chunk = missing > 0 ? randomFillSync(Buffer.allocUnsafe(Math.min(missing, chunkBytes))) : undefined;
    for (; chunk && missing > 0; missing -= chunk.length)
      writeSync(handle, chunk, 0, Math.min(missing, chunk.length));
  } finally {
    closeSync(handle);
  }
}
