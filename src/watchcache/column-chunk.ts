// Up to {@link chunkRows} objects in order of revision, with a column of hashes for each field, and the
// format in which a chunk is saved.
//
//   saved   length of the header (4 bytes)   header, JSON   padding to 8   revisions, 8 bytes each   columns, 4 each
import type { Revision } from "#store";
import type { CachedObject } from "./cached-object.ts";

export const chunkRows = 8192;

export class ColumnChunk {
  /** Undefined for deleted objects, and for those not loaded yet. */
  readonly rows: (CachedObject | undefined)[];
  readonly revisions: Float64Array;
  readonly columns: readonly Uint32Array[];
  length: number;
  live = 0;
  saved = false;
  /** Whether the columns contain the hashes of all rows. */
  filled = true;

  constructor(revisions: Float64Array, columns: readonly Uint32Array[], length: number) {
    this.revisions = revisions;
    this.columns = columns;
    this.length = length;
    this.rows = Array.from<CachedObject | undefined>({ length });
  }

  get first(): Revision {
    return this.revisions[0]!;
  }

  get last(): Revision {
    return this.revisions[this.length - 1]!;
  }

  append(item: CachedObject): void {
    this.rows.push(item);
    this.revisions[this.length++] = item.revision;
    this.live++;
  }

  /** Removes the object of a revision; reports whether it was present. */
  drop(revision: Revision): boolean {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.revisions[middle]! < revision) low = middle + 1;
      else high = middle;
    }
    if (this.revisions[low] !== revision || !this.rows[low]) return false;
    this.rows[low] = undefined;
    this.live--;
    return true;
  }
}

export const emptyChunk = (columns: number): ColumnChunk =>
  new ColumnChunk(
    new Float64Array(chunkRows),
    Array.from({ length: columns }, () => new Uint32Array(chunkRows)),
    0,
  );

/** Merges the remaining objects of two adjacent chunks. */
export function mergedChunk(before: ColumnChunk, after: ColumnChunk): ColumnChunk {
  const merged = new ColumnChunk(
    new Float64Array(before.live + after.live),
    before.columns.map(() => new Uint32Array(before.live + after.live)),
    0,
  );
  for (const { rows, length, columns } of [before, after])
    for (let row = 0; row < length; row++) {
      const item = rows[row];
      if (!item) continue;
      merged.append(item);
      for (const [at, column] of columns.entries()) merged.columns[at]![merged.length - 1] = column[row]!;
    }
  return merged;
}

interface Header {
  readonly fields: readonly string[];
  readonly rows: number;
}

const paddedTo8 = (bytes: number): number => Math.ceil(bytes / 8) * 8;

export function encodeChunk(
  { revisions, columns, length }: ColumnChunk,
  fields: readonly string[],
): Uint8Array {
  const header = Buffer.from(JSON.stringify({ fields, rows: length } satisfies Header));
  const start = paddedTo8(4 + header.length);
  const bytes = Buffer.alloc(start + length * (8 + 4 * fields.length));
  bytes.writeUInt32LE(header.length, 0);
  header.copy(bytes, 4);
  bytes.set(bytesOf(revisions.subarray(0, length)), start);
  for (const [at, column] of columns.entries())
    bytes.set(bytesOf(column.subarray(0, length)), start + length * (8 + 4 * at));
  return bytes;
}

/** Decodes a chunk; returns undefined if the bytes are malformed or of other fields. */
export function decodeChunk(bytes: Uint8Array, fields: readonly string[]): ColumnChunk | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.length < 4) return undefined;
  const headerLength = view.readUInt32LE(0);
  const start = paddedTo8(4 + headerLength);
  const rows = (view.length - start) / (8 + 4 * fields.length);
  if (!Number.isInteger(rows) || rows < 1 || rows > chunkRows) return undefined;
  const expected = JSON.stringify({ fields, rows } satisfies Header);
  if (view.toString("utf8", 4, 4 + headerLength) !== expected) return undefined;
  // The copy is aligned.
  const data = new Uint8Array(view.subarray(start)).buffer;
  const chunk = new ColumnChunk(
    new Float64Array(data, 0, rows),
    fields.map((_, at) => new Uint32Array(data, rows * (8 + 4 * at), rows)),
    rows,
  );
  chunk.saved = true;
  return chunk;
}

const bytesOf = (array: Float64Array | Uint32Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
