// One process, one opener: the operating system's own file lock, which ends with the process however it ends.
// SQLite takes it for us (a reserved lock on a file of its own), so it also tells two openers in one process
// apart.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StoreLocked } from "../errors.ts";
import { holderFile, lockFile, makePrivate } from "./files.ts";

const busy = 5;

/** Locks the store's directory; the returned function unlocks it. Throws StoreLocked, naming the holder. */
export function lockStore(dir: string): () => void {
  makePrivate(lockFile(dir));
  const db = new DatabaseSync(lockFile(dir), { timeout: 0 });
  try {
    // Nothing is ever written here, so there is nothing to roll back.
    db.exec("PRAGMA journal_mode = MEMORY");
    db.exec("BEGIN IMMEDIATE");
  } catch (error) {
    db.close();
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === busy)
      throw new StoreLocked(dir, holderOf(dir));
    throw error;
  }
  writeFileSync(holderFile(dir), `${process.pid}\n`, { mode: 0o600 });
  return () => {
    rmSync(holderFile(dir), { force: true });
    db.close();
  };
}

function holderOf(dir: string): number | undefined {
  try {
    const pid = Number(readFileSync(holderFile(dir), "utf8"));
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    // Not ours to signal, but alive.
    if ((error as NodeJS.ErrnoException).code === "EPERM")
      return Number(readFileSync(holderFile(dir), "utf8"));
    return undefined;
  }
}
