// The event loop's read-only connection: short lookups by revision that never wait for the writer.

import { DatabaseSync, type StatementSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { StoreDamaged } from "../errors.ts";
import type { BufferCallback, Revision } from "../store.ts";
import { rowSeal, valueSeal } from "./files.ts";

/** A row of the log; `created` is negative for a deletion. */
export interface Row {
  readonly revision: Revision;
  readonly key: string;
  readonly created: number;
  readonly before: Revision;
  readonly expires: number;
}
type Columns = [
  revision: number,
  key: string,
  created: number,
  before: number,
  expires: number,
  seal: number,
];

export type UncheckedRow = [revision: number, key: string, created: number, expires: number];

/** Values up to this size are read together. */
const smallBytes = 8192;

export class Reader {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #value: StatementSync;
  readonly #smallValues: StatementSync;
  readonly #largeValues: StatementSync;
  readonly #log: StatementSync;
  readonly #rows: StatementSync;
  readonly #derived: StatementSync;
  readonly #pages: StatementSync;
  readonly #pageBytes: number;

  constructor(file: string) {
    this.#file = file;
    this.#db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    const prepare = (sql: string): StatementSync => {
      const statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#value = prepare("SELECT revision, seal, bytes FROM value WHERE revision = ?");
    const some = "SELECT revision, seal, bytes FROM value WHERE revision IN (SELECT value FROM json_each(?))";
    this.#smallValues = prepare(
      `SELECT group_concat(revision || ' ' || seal || ' ' || length(bytes), ' '), CAST(group_concat(bytes, '') AS BLOB)
         FROM (${some} AND length(bytes) <= ${smallBytes})`,
    );
    this.#largeValues = prepare(`${some} AND length(bytes) > ${smallBytes}`);
    this.#log = prepare(
      "SELECT revision, key, created, before, expires, seal FROM log WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ?",
    );
    this.#rows = prepare(
      "SELECT revision, key, created, expires FROM log WHERE revision > ? ORDER BY revision LIMIT ?",
    );
    this.#derived = prepare("SELECT piece, seal, bytes FROM derived WHERE name = ? ORDER BY piece");
    this.#pages = prepare("PRAGMA page_count");
    this.#pageBytes = (prepare("PRAGMA page_size").get() as unknown as [number])[0];
  }

  /** Returns the value written at a revision, if it is still kept. */
  value(revision: Revision): Uint8Array | undefined {
    return this.#guard(() => {
      const row = this.#value.get(revision) as unknown as [number, number, Uint8Array] | undefined;
      return row && this.#checked(row);
    });
  }

  /**
   * Returns several values at once; those no longer kept are omitted. Small ones are views of one buffer,
   * which is passed to `onBuffer`: allocating and collecting a buffer for each takes much longer than reading
   * them. Callers that retain a value must copy it.
   */
  values(revisions: readonly Revision[], onBuffer?: BufferCallback): Map<Revision, Uint8Array> {
    return this.#guard(() => {
      const revisionList = JSON.stringify(revisions);
      const values = new Map<Revision, Uint8Array>();
      const [described, joined] = this.#smallValues.get(revisionList) as unknown as [
        string | null,
        Uint8Array,
      ];
      if (described) onBuffer?.(joined);
      const numbers = described?.split(" ") ?? [];
      for (let at = 0, offset = 0; at < numbers.length; at += 3) {
        const revision = Number(numbers[at]);
        const bytes = joined.subarray(offset, (offset += Number(numbers[at + 2])));
        values.set(revision, this.#checked([revision, Number(numbers[at + 1]), bytes]));
      }
      if (values.size === revisions.length) return values;
      const rows = this.#largeValues.all(revisionList) as unknown as [number, number, Uint8Array][];
      for (const row of rows) values.set(row[0], this.#checked(row));
      return values;
    });
  }

  /** Returns rows of the log after a revision, in order. */
  log(after: Revision, through: Revision, limit: number): Row[] {
    return this.#guard(() =>
      (this.#log.all(after, through, limit) as unknown as Columns[]).map((row) => this.#row(row)),
    );
  }

  /**
   * Like log, but without verifying checksums, for a log that is checked elsewhere: takes a fifth of the
   * time.
   */
  uncheckedLog(after: Revision, limit: number): UncheckedRow[] {
    return this.#guard(() => this.#rows.all(after, limit) as unknown as UncheckedRow[]);
  }

  /** Returns the pieces of derived data in order; damaged ones are omitted. */
  derived(name: string): { readonly piece: number; readonly bytes: Uint8Array }[] {
    return this.#guard(() =>
      (this.#derived.all(name) as unknown as [number, number, Uint8Array][])
        .filter(([piece, seal, bytes]) => seal === crc32(bytes, piece))
        .map(([piece, , bytes]) => ({ piece, bytes })),
    );
  }

  compacted(): Revision {
    return this.#guard(() =>
      Number(this.#db.prepare("SELECT number FROM meta WHERE name = 'compacted'").get()!["number"]),
    );
  }

  bytes(): number {
    return this.#guard(() => (this.#pages.get() as unknown as [number])[0] * this.#pageBytes);
  }

  close(): void {
    this.#db.close();
  }

  #row([revision, key, created, before, expires, seal]: Columns): Row {
    if (seal !== rowSeal(revision, key, created, before, expires))
      throw new StoreDamaged(this.#file, `the log is not what was written at revision ${revision}`);
    return { revision, key, created, before, expires };
  }

  #checked([revision, seal, bytes]: [number, number, Uint8Array]): Uint8Array {
    if (seal !== valueSeal(revision, bytes))
      throw new StoreDamaged(this.#file, `the value written at revision ${revision} is not what was written`);
    return bytes;
  }

  #guard<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw damageOf(this.#file, error) ?? error;
    }
  }
}

/** Converts an error to StoreDamaged if SQLite reports that the file is corrupt. */
export function damageOf(file: string, error: unknown): StoreDamaged | undefined {
  const { errcode, message } = error as { errcode?: number; message?: string };
  const primary = (errcode ?? 0) % 256;
  return primary === 11 || primary === 26 ? new StoreDamaged(file, message ?? "unreadable") : undefined;
}
