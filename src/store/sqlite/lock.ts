// Ensures a single opener of a store with the operating system's file lock, which is released however the
// process ends. SQLite takes it (a reserved lock on a dedicated file), so two openers in one process are
// detected, too.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StoreLocked } from "../errors.ts";
import { holderFile, lockFile, createPrivateFile } from "./files.ts";

const busy = 5;
const notDatabase = 26;

/**
 * Locks the store's directory and returns a function that unlocks it. Throws StoreLocked, which names the
 * holder.
 */
export function lockStore(dir: string): () => void {
  const file = lockFile(dir);
  createPrivateFile(file);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { timeout: 0 });
    // Nothing is ever written to this database, so no rollback journal is needed on disk.
    db.exec("PRAGMA journal_mode = MEMORY");
    db.exec("BEGIN IMMEDIATE");
  } catch (error) {
    db?.close();
    const code = ((error as { errcode?: number }).errcode ?? 0) % 256;
    if (code === busy) throw new StoreLocked(dir, holderOf(dir));
    const remedy = code === notDatabase ? "; it holds no data: remove it while no server uses it" : "";
    throw new Error(`${file} cannot be locked: ${(error as Error).message}${remedy}`, { cause: error });
  }
  try {
    writeFileSync(holderFile(dir), `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    // The lock holds without it. A full disk is reported by what needs the space.
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
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
    // The process exists, but we may not signal it.
    if ((error as NodeJS.ErrnoException).code === "EPERM")
      return Number(readFileSync(holderFile(dir), "utf8"));
    return undefined;
  }
}
