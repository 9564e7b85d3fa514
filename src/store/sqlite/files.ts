// The files in the store's directory and the database layout. Shared by both threads, so it imports no other
// packages of the project.
//
//   store.db   log    one row per change, narrow, so that the key index loads without touching values
//              value  the bytes of each change, looked up by revision
//              meta   how far history was compacted
//              derived   data computed from values, which can be computed again
//   acknowledged   the last revision acknowledged to a client (see acknowledged.ts)
//   lock.db    held locked while the store is open      holder   the pid that holds it, for people

import { closeSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import type { Revision } from "../store.ts";

export const storeFile = (dir: string): string => join(dir, "store.db");
export const lockFile = (dir: string): string => join(dir, "lock.db");
export const holderFile = (dir: string): string => join(dir, "holder");

export const applicationId = 0x6f726368;
export const formatVersion = 1;
export const pageBytes = 8192;

/** As in etcd, an empty store is at revision 1, so that zero can mean "before everything". */
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

/** Added later: older programs ignore it, and missing data is computed again. */
export const addedLayout = `
  CREATE TABLE IF NOT EXISTS derived (name TEXT NOT NULL, piece INTEGER NOT NULL, seal INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (name, piece));
`;

/** SQLite does not checksum its pages, so every row carries a checksum of its content. */
export const rowSeal = (
  revision: Revision,
  key: string,
  created: number,
  before: number,
  expires: number,
): number => crc32(`${revision} ${created} ${before} ${expires} ${key}`);
export const valueSeal = (revision: Revision, bytes: Uint8Array): number => crc32(bytes, revision % 2 ** 32);

/** Returns the URL of a file next to this one, with the extension this one runs with: source or compiled. */
export const siblingModule = (name: string): URL =>
  new URL(`./${name}${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

/** An SQLite error's result code and message, in a form that can be sent between threads. */
export interface Fault {
  readonly code: number;
  readonly message: string;
}
export function faultOf(error: unknown): Fault {
  const { errcode, message } = error as { errcode?: number; message?: string };
  return { code: errcode ?? 0, message: message ?? String(error) };
}

const full = 13;
const sharedMemorySize = 4874;

/** Reports whether there was not enough space on the disk. */
export const isFull = ({ code }: Fault): boolean => code % 256 === full || code === sharedMemorySize;

/** Returns the free space of the disk; infinite if the file system does not report its size. */
export function availableBytes(file: string): number {
  const { blocks, bavail, bsize } = statfsSync(dirname(file));
  return blocks > 0 ? bavail * bsize : Infinity;
}

/**
 * Reports whether the disk has room to checkpoint the write-ahead log, after which the database has this size.
 * Within its present size, no space is needed.
 */
export function checkpointFits(file: string, bytes: number): boolean {
  const growth = bytes - statSync(file).size;
  return growth <= 0 || availableBytes(file) > growth + (1 << 20);
}

/**
 * Creates a file that only its owner can read, unless it exists. An existing file is not even opened: closing
 * any handle to a file releases all locks that this process holds on it.
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
