// The last acknowledged revision, kept apart from the database. A damaged write-ahead log ends early without
// an error, so only a separate record can reveal that changes are missing.
//
// The record is written after the commit and is not flushed each time: after a process crash it is exact,
// after a power loss it lags by some seconds. It is never ahead of the database on disk. Shared by both
// threads, so it imports no other packages of the project.

import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Revision } from "../store.ts";

export const acknowledgedFile = (dir: string): string => join(dir, "acknowledged");

const digits = 16;
const checksumOf = (number: string): string => crc32(number).toString(16).padStart(8, "0");
const lineOf = (revision: Revision): string => {
  const number = String(revision).padStart(digits, "0");
  return `${number} ${checksumOf(number)}\n`;
};

/** Returns the recorded revision; zero if the record is missing or unreadable. */
export function readAcknowledged(file: string): Revision {
  let text: string;
  try {
    text = readFileSync(file, "latin1");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
  const [, number = "", checksum] = /^(\d{16}) ([0-9a-f]{8})\n$/.exec(text) ?? [];
  return number !== "" && checksumOf(number) === checksum ? Number(number) : 0;
}

export interface AcknowledgedRecord {
  write(revision: Revision): void;
  flush(): void;
  close(): void;
}

/** Opens the record for writing. Its line has a fixed length, so that it can be rewritten on a full disk. */
export function openAcknowledged(file: string): AcknowledgedRecord {
  const handle = openSync(file, "a+", 0o600);
  closeSync(handle);
  const record = openSync(file, "r+");
  return {
    write: (revision) => void writeSync(record, lineOf(revision), 0, "latin1"),
    flush: () => fdatasyncSync(record),
    close: () => closeSync(record),
  };
}
