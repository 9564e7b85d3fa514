// The last acknowledged revision, kept apart from the database: a write-ahead log that was damaged ends early
// without a word, and only what stands elsewhere can tell that something is missing.
//
// The record follows the commit and is not flushed for each: a crash of the process leaves it exact, a loss of
// power leaves it behind by some seconds. It is never ahead of what is on disk. Shared by both threads, so it
// imports no rooms.

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

/** What the record says; zero where there is none, or none that can be read. */
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

/** Opens the record for writing. Its line has one length, so that a full disk does not keep it from changing. */
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
