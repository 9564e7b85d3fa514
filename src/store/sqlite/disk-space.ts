// Keeps the store usable on a disk that runs full: the database stops growing while there is still room for
// deletions and for compaction, which then make room for other writes. Without it, the last write takes the space
// that a checkpoint needs, and every later write fails.

import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { availableBytes, pageBytes } from "./files.ts";
import { type WriterJob, hasValues } from "./job.ts";

export interface DiskSpace {
  /** Whether space is short: the log must be checkpointed after each job to stay small. */
  isLow(): boolean;
  /** Limits the growth of the database by a job. */
  limit(job: WriterJob): void;
  /** The log has grown by about this much. */
  grown(bytes: number): void;
  /** Another program has taken or freed space. */
  changed(): void;
}

const lowBytes = 32 << 20;
/** Only deletions and housekeeping may take this. */
const reservedBytes = 4 << 20;
const measuredEveryBytes = 1 << 20;
const unlimitedPages = 4294967294;

export function diskSpace(db: DatabaseSync, file: string, maxPages = unlimitedPages): DiskSpace {
  let available = Infinity;
  let unmeasured = Infinity;
  let isLimited = false;
  const isLow = (): boolean => available < lowBytes;
  return {
    isLow,
    limit: (job) => {
      if (isLow() || unmeasured > measuredEveryBytes) {
        available = availableBytes(file);
        unmeasured = 0;
      }
      if (!isLow() && !isLimited) return;
      isLimited = isLow();
      // What the database grows by is written twice: to the log, and then to the database.
      const room = Math.max(0, available - (hasValues(job) ? reservedBytes : 0)) / 2;
      const pages = isLimited ? Math.floor((statSync(file).size + room) / pageBytes) : unlimitedPages;
      db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.min(pages, maxPages))}`);
    },
    grown: (bytes) => void (unmeasured += bytes),
    changed: () => void (unmeasured = Infinity),
  };
}
