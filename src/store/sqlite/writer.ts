// The writer thread, which holds the only connection that changes the database. One job is one transaction
// and one flush, so the event loop never waits for the disk; a job is answered only when its commit is on
// disk.

import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { dirname } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import {
  applicationId,
  availableBytes,
  checkpointFits,
  type Fault,
  faultOf,
  isFull,
  formatVersion,
  addedLayout,
  layout,
  pageBytes,
  rowSeal,
  valueSeal,
} from "./files.ts";
import { acknowledgedFile, openAcknowledged } from "./acknowledged.ts";
import { type Ballast, openBallast } from "./ballast.ts";
import { structuralDamage } from "./damage.ts";
import { diskSpace } from "./disk-space.ts";
import {
  type WriterRequest,
  type Pages,
  type WriterAnswer,
  type Housekeeping,
  type WriterJob,
  hasValues,
  unpacked,
} from "./job.ts";

export interface WriterData {
  readonly file: string;
  readonly maxPages: number;
  /** Larger databases are not checked before they are used. */
  readonly maxPagesChecked: number;
}

// The log is checkpointed once it has grown by this much: small enough to be quick, large enough to be rare.
const checkpointBytes = 8 << 20;

function openDatabase({ file, maxPages, maxPagesChecked }: WriterData): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    db.exec("PRAGMA wal_autocheckpoint = 0");
    const numberOf = (pragma: string): number =>
      Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get()!)[0]);
    const tables = db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()!["n"];
    // Setting the mode writes to the database, which must also open on a full disk.
    if (tables === 0) db.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL`);
    db.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA journal_size_limit = 67108864",
    );
    if (tables === 0) db.exec(`BEGIN; ${layout} COMMIT`);
    else if (numberOf("application_id") !== applicationId)
      throw Object.assign(new Error("it is another program's database"), { errcode: 26 });
    else if (numberOf("user_version") !== formatVersion)
      throw new Error(`it has format ${numberOf("user_version")}, this program knows ${formatVersion}`);
    db.exec(addedLayout);
    if (maxPages) db.exec(`PRAGMA max_page_count = ${maxPages}`);
    const damage = numberOf("page_count") <= maxPagesChecked ? structuralDamage(db) : undefined;
    if (damage !== undefined) throw Object.assign(new Error(damage), { errcode: 11 });
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens the database. On a full disk this takes the space of the ballast. */
function openOnFullDisk(data: WriterData, ballast: Ballast): DatabaseSync {
  try {
    return openDatabase(data);
  } catch (error) {
    if (!isFull(faultOf(error)) || !ballast.release()) throw error;
    return openDatabase(data);
  }
}

function serve(port: NonNullable<typeof parentPort>, data: WriterData): void {
  const { file, maxPages } = data;
  const ballast = openBallast(dirname(file));
  const db = openOnFullDisk(data, ballast);
  const addRow = db.prepare("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)");
  const addValue = db.prepare("INSERT INTO value VALUES (?, ?, ?)");
  const dropRow = db.prepare("DELETE FROM log WHERE revision = ?");
  const dropValue = db.prepare("DELETE FROM value WHERE revision = ?");
  const setCompacted = db.prepare("UPDATE meta SET number = ? WHERE name = 'compacted'");
  const putDerived = db.prepare("INSERT OR REPLACE INTO derived VALUES (?, ?, ?, ?)");
  const dropDerived = db.prepare("DELETE FROM derived WHERE name = ? AND piece = ?");
  const begin = db.prepare("BEGIN IMMEDIATE");
  const end = db.prepare("COMMIT");
  const newest = db.prepare("SELECT max(revision) AS revision FROM log");
  const pages = db.prepare("PRAGMA page_count");
  const freePages = db.prepare("PRAGMA freelist_count");
  const acknowledged = openAcknowledged(acknowledgedFile(dirname(file)));
  const space = diskSpace(db, file, maxPages || undefined);
  let sinceCheckpoint = 0;

  const apply = ({ first, keys, packed }: WriterJob): void => {
    let at = 0;
    for (const { created, before, expires, value } of unpacked(packed, keys.length)) {
      const revision = first + at;
      const key = keys[at++]!;
      addRow.run(revision, key, created, before, expires, rowSeal(revision, key, created, before, expires));
      if (value) addValue.run(revision, valueSeal(revision, value), value);
    }
  };

  const clean = ({ deletedRevisions: forget, compacted, derived }: Housekeeping): void => {
    for (const { name, piece, bytes } of derived)
      if (bytes) putDerived.run(name, piece, crc32(bytes, piece), bytes);
      else dropDerived.run(name, piece);
    for (const revision of forget) {
      dropRow.run(revision);
      dropValue.run(revision);
    }
    if (compacted) setCompacted.run(compacted);
  };

  const counted = (): Pages => ({
    pages: Number(pages.get()!["page_count"]),
    freePages: Number(freePages.get()!["freelist_count"]),
  });

  /** Commits the job as one transaction. Returns a fault if nothing of it was kept. */
  const attempt = (job: WriterJob): Fault | undefined => {
    const { first, keys, housekeeping } = job;
    try {
      // An incremental vacuum is possible outside a transaction only.
      if (housekeeping?.vacuumPages) db.exec(`PRAGMA incremental_vacuum(${housekeeping.vacuumPages})`);
      else {
        begin.run();
        apply(job);
        if (housekeeping) clean(housekeeping);
        end.run();
      }
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      // A failed commit may still have reached the log; the content of the log decides.
      if (keys.length === 0 || Number(newest.get()!["revision"] ?? 0) < first) return faultOf(error);
    }
    return undefined;
  };

  const commit = (job: WriterJob): WriterAnswer => {
    const { first, keys, housekeeping } = job;
    ignoringErrors(() => space.limit(job));
    let fault = attempt(job);
    // After a checkpoint, the log is written from its beginning and need not grow.
    if (fault && isFull(fault) && checkpoint("PASSIVE")) fault = attempt(job);
    if (fault && isFull(fault)) {
      space.changed();
      if (!hasValues(job) && ballast.release()) {
        ignoringErrors(() => space.limit(job));
        fault = attempt(job);
      }
    }
    if (fault) return { fault };
    if (keys.length) ignoringErrors(() => acknowledged.write(first + keys.length - 1));
    return housekeeping ? { done: counted() } : "done";
  };

  // Checkpointing grows the database before the log shrinks. On a disk too full for both it is postponed: the
  // log has everything, and a partly grown database would only take up the remaining space.
  const checkpoint = (kind: string): boolean => {
    const fits = checkpointFits(file, counted().pages * pageBytes);
    sinceCheckpoint = fits ? 0 : checkpointBytes - (1 << 20);
    if (fits) db.exec(`PRAGMA wal_checkpoint(${kind})`);
    acknowledged.flush();
    return fits;
  };

  port.on("message", (order: WriterRequest) => {
    if (order.do === "close") {
      ignoringErrors(() => void checkpoint("TRUNCATE"));
      db.close();
      ignoringErrors(() => ballast.restore(availableBytes(file) / 2));
      acknowledged.close();
      port.postMessage("closed" satisfies WriterAnswer);
      port.close();
      return;
    }
    let answer: WriterAnswer;
    try {
      answer = commit(order.job);
    } catch (error) {
      answer = { fault: faultOf(error) };
    }
    port.postMessage(answer);
    const grown = logGrowth(order.job);
    space.grown(grown);
    sinceCheckpoint += grown;
    if (sinceCheckpoint > checkpointBytes || space.isLow()) ignoringErrors(() => void checkpoint("PASSIVE"));
    if (!space.isLow()) ignoringErrors(() => ballast.restore());
  });
}

/** Estimates the number of bytes a job adds to the write-ahead log. */
function logGrowth({ keys, packed, housekeeping }: WriterJob): number {
  const jobBytes = packed.byteLength + pageBytes * (2 + Math.ceil(keys.length / 64));
  if (!housekeeping) return jobBytes;
  const derived = housekeeping.derived.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  return (
    jobBytes + derived + pageBytes * (housekeeping.deletedRevisions.length / 4 + housekeeping.vacuumPages)
  );
}

// A failed checkpoint is only postponed.
function ignoringErrors(act: () => void): void {
  try {
    act();
  } catch {
    return;
  }
}

if (parentPort) {
  try {
    serve(parentPort, workerData as WriterData);
    parentPort.postMessage("done" satisfies WriterAnswer);
  } catch (error) {
    parentPort.postMessage({ fault: faultOf(error) } satisfies WriterAnswer);
    parentPort.close();
  }
}
