// Finds damage of a database. Each function describes the first damage that it finds, and returns undefined
// otherwise. Shared by threads, so it imports no other packages of the project.

import type { DatabaseSync } from "node:sqlite";
import { firstRevision, rowSeal, valueSeal } from "./files.ts";

type Columns = [
  revision: number,
  key: string,
  created: number,
  before: number,
  expires: number,
  seal: number,
];

/** Finds damage of the structure. Reads the whole file. */
export function structuralDamage(db: DatabaseSync): string | undefined {
  const verdict = String(Object.values(db.prepare("PRAGMA quick_check(1)").get() ?? {})[0]);
  return verdict === "ok" ? undefined : verdict;
}

/** Finds a row of the log that does not match its checksum. */
export function alteredRow(db: DatabaseSync): string | undefined {
  for (const row of rowsOf(db, "SELECT revision, key, created, before, expires, seal FROM log")) {
    const [revision, key, created, before, expires, seal] = row as Columns;
    if (seal !== rowSeal(revision, key, created, before, expires))
      return `the log is not what was written at revision ${revision}`;
  }
  return undefined;
}

/** Finds a value that does not match its checksum. */
export function alteredValue(db: DatabaseSync): string | undefined {
  for (const row of rowsOf(db, "SELECT revision, seal, bytes FROM value")) {
    const [revision, seal, bytes] = row as [number, number, Uint8Array];
    if (seal !== valueSeal(revision, bytes))
      return `the value written at revision ${revision} is not what was written`;
  }
  return undefined;
}

/** Finds changes and values that are missing. The database must not be in use. */
export function missingRow(db: DatabaseSync): string | undefined {
  const number = (sql: string, ...given: readonly number[]): number =>
    Number(Object.values(db.prepare(sql).get(...given) ?? {})[0]);
  const compacted = number("SELECT number FROM meta WHERE name = 'compacted'");
  if (!Number.isSafeInteger(compacted)) return "the revision of the last compaction is missing";
  const first = Math.max(compacted, firstRevision);
  const expected = Math.max(0, number("SELECT max(revision) FROM log") - first);
  const present = number("SELECT count(*) FROM log WHERE revision > ?", first);
  if (present !== expected)
    return `only ${present} of ${expected} changes since the last compaction are present`;
  const withoutValue =
    "SELECT revision, key FROM log WHERE created > 0 AND revision NOT IN (SELECT revision FROM value) LIMIT 1";
  for (const [revision, key] of rowsOf(db, withoutValue))
    return `the value of ${JSON.stringify(key)} written at revision ${String(revision)} is missing`;
  return undefined;
}

function rowsOf(db: DatabaseSync, sql: string): Iterable<readonly unknown[]> {
  const rows = db.prepare(sql);
  rows.setReturnArrays(true);
  return rows.iterate() as unknown as Iterable<readonly unknown[]>;
}
