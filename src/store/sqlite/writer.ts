// The writer thread: the only connection that changes the database. One job is one transaction and one flush,
// so the event loop never waits for the disk; a job is answered only when its commit is on disk.

import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { dirname } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import type { Revision } from "../store.ts";
import {
  applicationId,
  checkpointFits,
  faultOf,
  type Fault,
  formatVersion,
  laterLayout,
  layout,
  pageBytes,
  rowSeal,
  structuralDamage,
  valueSeal,
} from "./files.ts";
import { acknowledgedFile, openAcknowledged } from "./acknowledged.ts";

/** Changes for consecutive revisions from `first` on, and housekeeping that goes with them. */
export interface WriterJob {
  /** Pieces of derived data to replace, or to remove where there are no bytes. */
  readonly derived: readonly DerivedPiece[];
  readonly first: Revision;
  readonly keys: readonly string[];
  /** Four per change: created, before, expires, length of the value (-1 for a deletion). */
  readonly numbers: Float64Array;
  /** All values, end to end. */
  readonly bytes: Uint8Array;
  /** Revisions whose rows can go. */
  readonly forget: Float64Array;
  /** The revision up to which history is compacted from now on, or zero. */
  readonly compacted: Revision;
  /** How many free pages to give back to the file system. */
  readonly vacuumPages: number;
}
export interface DerivedPiece {
  readonly name: string;
  readonly piece: number;
  readonly bytes: Uint8Array | null;
}
export type Order = { readonly do: "job"; readonly job: WriterJob } | { readonly do: "close" };
export type WriterAnswer =
  | { readonly is: "done"; readonly pages: number; readonly freePages: number }
  | { readonly is: "failed"; readonly fault: Fault }
  | { readonly is: "closed" };
export interface WriterData {
  readonly file: string;
  readonly maxPages: number;
  /** Larger databases are not checked before they are used. */
  readonly maxPagesChecked: number;
}

// The log is folded into the database once it has grown by this much: small enough to be quick, large enough
// to be rare.
const checkpointBytes = 8 << 20;

function openDatabase({ file, maxPages, maxPagesChecked }: WriterData): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    db.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL`);
    db.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864",
    );
    const numberOf = (pragma: string): number =>
      Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get()!)[0]);
    const tables = db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()!["n"];
    if (tables === 0) db.exec(`BEGIN; ${layout} COMMIT`);
    else if (numberOf("application_id") !== applicationId)
      throw Object.assign(new Error("it is some other program's database"), { errcode: 26 });
    else if (numberOf("user_version") !== formatVersion)
      throw new Error(`it has format ${numberOf("user_version")}, this program knows ${formatVersion}`);
    db.exec(laterLayout);
    if (maxPages) db.exec(`PRAGMA max_page_count = ${maxPages}`);
    const damage = numberOf("page_count") <= maxPagesChecked ? structuralDamage(db) : undefined;
    if (damage !== undefined) throw Object.assign(new Error(damage), { errcode: 11 });
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function serve(port: NonNullable<typeof parentPort>, db: DatabaseSync, file: string): void {
  const addRow = db.prepare("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)");
  const addValue = db.prepare("INSERT INTO value VALUES (?, ?, ?)");
  const dropRow = db.prepare("DELETE FROM log WHERE revision = ?");
  const dropValue = db.prepare("DELETE FROM value WHERE revision = ?");
  const setCompacted = db.prepare("UPDATE meta SET number = ? WHERE name = 'compacted'");
  const putDerived = db.prepare("INSERT OR REPLACE INTO derived VALUES (?, ?, ?, ?)");
  const dropDerived = db.prepare("DELETE FROM derived WHERE name = ? AND piece = ?");
  const newest = db.prepare("SELECT max(revision) AS revision FROM log");
  const pages = db.prepare("PRAGMA page_count");
  const freePages = db.prepare("PRAGMA freelist_count");
  const acknowledged = openAcknowledged(acknowledgedFile(dirname(file)));
  let sinceCheckpoint = 0;

  const apply = ({ first, keys, numbers, bytes, forget, compacted, derived }: WriterJob): void => {
    for (const { name, piece, bytes: made } of derived)
      if (made) putDerived.run(name, piece, crc32(made, piece), made);
      else dropDerived.run(name, piece);
    let offset = 0;
    for (const [i, key] of keys.entries()) {
      const revision = first + i;
      const created = numbers[4 * i]!;
      const before = numbers[4 * i + 1]!;
      const expires = numbers[4 * i + 2]!;
      const length = numbers[4 * i + 3]!;
      addRow.run(revision, key, created, before, expires, rowSeal(revision, key, created, before, expires));
      if (length < 0) continue;
      const value = bytes.subarray(offset, (offset += length));
      addValue.run(revision, valueSeal(revision, value), value);
    }
    for (const revision of forget) {
      dropRow.run(revision);
      dropValue.run(revision);
    }
    if (compacted) setCompacted.run(compacted);
  };

  const commit = (job: WriterJob): WriterAnswer => {
    try {
      if (job.keys.length || job.forget.length || job.compacted || job.derived.length) {
        db.exec("BEGIN IMMEDIATE");
        apply(job);
        db.exec("COMMIT");
      }
      if (job.vacuumPages) db.exec(`PRAGMA incremental_vacuum(${job.vacuumPages})`);
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      // A failed commit may still have reached the log; what is there counts.
      if (job.keys.length === 0 || Number(newest.get()!["revision"] ?? 0) < job.first)
        return { is: "failed", fault: faultOf(error) };
    }
    if (job.keys.length) tolerate(() => acknowledged.write(job.first + job.keys.length - 1));
    return {
      is: "done",
      pages: Number(pages.get()!["page_count"]),
      freePages: Number(freePages.get()!["freelist_count"]),
    };
  };

  // Folding the log in makes the database grow before the log shrinks. On a disk too full for both it is left
  // for later: the log has everything, and a half-grown database would only take the space that is left.
  const checkpoint = (kind: string): void => {
    const fits = checkpointFits(file);
    sinceCheckpoint = fits ? 0 : checkpointBytes - (1 << 20);
    if (fits) db.exec(`PRAGMA wal_checkpoint(${kind})`);
    acknowledged.flush();
  };

  port.on("message", (order: Order) => {
    if (order.do === "close") {
      tolerate(() => checkpoint("TRUNCATE"));
      db.close();
      acknowledged.close();
      port.postMessage({ is: "closed" } satisfies WriterAnswer);
      port.close();
      return;
    }
    let answer: WriterAnswer;
    try {
      answer = commit(order.job);
    } catch (error) {
      answer = { is: "failed", fault: faultOf(error) };
    }
    port.postMessage(answer);
    const { keys, bytes, forget, vacuumPages, derived } = order.job;
    sinceCheckpoint +=
      derived.reduce((sum, piece) => sum + (piece.bytes?.length ?? 0), bytes.length) +
      pageBytes * (2 + Math.ceil(keys.length / 64) + forget.length / 4 + vacuumPages);
    if (sinceCheckpoint > checkpointBytes) tolerate(() => checkpoint("PASSIVE"));
  });
}

// A checkpoint that fails is only put off.
function tolerate(act: () => void): void {
  try {
    act();
  } catch {
    return;
  }
}

if (parentPort) {
  try {
    const data = workerData as WriterData;
    serve(parentPort, openDatabase(data), data.file);
    parentPort.postMessage({ is: "done", pages: 0, freePages: 0 } satisfies WriterAnswer);
  } catch (error) {
    parentPort.postMessage({ is: "failed", fault: faultOf(error) } satisfies WriterAnswer);
    parentPort.close();
  }
}
