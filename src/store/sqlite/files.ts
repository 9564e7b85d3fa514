// What the store's directory holds and how its database is laid out. Shared by both threads, so it imports no
// rooms.
//
//   store.db   log    one row per change, narrow, so that the key index loads without touching values
//              value  the bytes of each change, looked up by revision
//              meta   how far history was compacted
//              derived   what others computed from values and can compute again
//   acknowledged   the last revision that somebody was told of (see acknowledged.ts)
//   lock.db    held locked while the store is open      holder   the pid that holds it, for people

import { closeSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import type { DatabaseSync } from "node:sqlite";
import type { Revision } from "../store.ts";

export const storeFile = (dir: string): string => join(dir, "store.db");
export const lockFile = (dir: string): string => join(dir, "lock.db");
export const holderFile = (dir: string): string => join(dir, "holder");

export const applicationId = 0x6f726368;
export const formatVersion = 1;
export const pageBytes = 8192;

/** An empty store stands at revision 1, as etcd does, so that zero can go on meaning "before everything". */
export const firstRevision = 1;

// `created` is negative for a deletion; `before` is the revision of the version replaced, or zero;
// `expires` is in milliseconds since the epoch, or zero.
export const layout = `
  CREATE TABLE log (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, created INTEGER NOT NULL, before INTEGER NOT NULL, expires INTEGER NOT NULL, seal INTEGER NOT NULL);
  CREATE TABLE value (revision INTEGER PRIMARY KEY, seal INTEGER NOT NULL, bytes BLOB NOT NULL);
  CREATE TABLE meta (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO meta VALUES ('compacted', 0);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${formatVersion};
`;

/** Came later: older programs leave it alone, and what is missing from it is computed again. */
export const laterLayout = `
  CREATE TABLE IF NOT EXISTS derived (name TEXT NOT NULL, piece INTEGER NOT NULL, seal INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (name, piece));
`;

/** SQLite does not check its pages, so every row carries a checksum of what was written. */
export const rowSeal = (
  revision: Revision,
  key: string,
  created: number,
  before: number,
  expires: number,
): number => crc32(`${revision} ${created} ${before} ${expires} ${key}`);
export const valueSeal = (revision: Revision, bytes: Uint8Array): number => crc32(bytes, revision % 2 ** 32);

/** A file beside this one, in whichever form this one runs: source or compiled. */
export const beside = (name: string): URL =>
  new URL(`./${name}${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

/** An SQLite error's result code and text, fit to be sent between threads. */
export interface Fault {
  readonly code: number;
  readonly message: string;
}
export function faultOf(error: unknown): Fault {
  const { errcode, message } = error as { errcode?: number; message?: string };
  return { code: errcode ?? 0, message: message ?? String(error) };
}

/** What is wrong with the structure of a database; undefined when nothing is. Reads all of it. */
export function structuralDamage(db: DatabaseSync): string | undefined {
  const verdict = String(Object.values(db.prepare("PRAGMA quick_check(1)").get() ?? {})[0]);
  return verdict === "ok" ? undefined : verdict;
}

/** Whether the disk has room for the database to take in its whole log. */
export function checkpointFits(file: string): boolean {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const { bavail, bsize } = statfsSync(dirname(file));
  return bavail * bsize > log + (1 << 20);
}

/**
 * Makes a file that only its owner can read, unless it is there. One that is there is not even opened:
 * closing any handle to a file lets go of all locks that this process has on it.
 */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
