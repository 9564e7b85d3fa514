// An index of very many objects by all their fields: for each field a column of hashes, in order of revision.
// A lookup scans a column, a million values in about a millisecond; the caller compares the few objects
// found. Full chunks are saved next to the store, so that a restart need not read the objects.
//
//   chunk   revision   object   reason     involvedObject.uid
//           17         a        8f01aa2c   11d0e07b
//           18         (del)    8f01aa2c   5ac0f3d1
//           21         c        03b1d6ee   11d0e07b
import { type Selector, TimeSlice, fieldOf } from "#base";
import type { DerivedData } from "#store";
import type { CachedObject } from "./cached-object.ts";
import {
  type ColumnChunk,
  chunkRows,
  decodeChunk,
  emptyChunk,
  encodeChunk,
  mergedChunk,
} from "./column-chunk.ts";

/** Below this number of objects a full scan is cheap enough. */
const fullScanRows = 1000;
/** Number of objects read at once. */
const batchRows = 64;
/** A value shared by more than this fraction of the objects is not selective. */
const maxFraction = 1 / 4;

export interface FieldColumnsOptions {
  readonly fields: readonly string[];
  /** Reads objects in bulk before they are accessed. */
  readonly preload?: (items: readonly CachedObject[]) => void;
  /** Where full chunks are saved, and under which name. */
  readonly derived: DerivedData;
  readonly name: string;
}

export class FieldColumns {
  readonly #options: FieldColumnsOptions;
  readonly #columnOf: ReadonlyMap<string, number>;
  /** In order of revision; only the last one is not full. */
  #chunks: ColumnChunk[] = [];
  #size = 0;
  /** Set while unsaved objects are being read. */
  #filling: { readonly done: Promise<void>; readonly work: TimeSlice } | undefined;
  #generation = 0;

  constructor(options: FieldColumnsOptions) {
    this.#options = options;
    this.#columnOf = new Map(options.fields.map((field, column) => [field, column]));
  }

  /** Initializes the index with these objects, in order of revision; those in saved chunks are not read. */
  load(items: readonly CachedObject[]): void {
    this.clear();
    const saved = this.#saved();
    const chunks: ColumnChunk[] = [];
    const missing: ColumnChunk[] = [];
    const unsaved = (): ColumnChunk => {
      let last = chunks.at(-1);
      if (!last || last.saved || last.length === chunkRows) {
        chunks.push((last = emptyChunk(this.#options.fields.length)));
        missing.push(last);
      }
      return last;
    };
    let next = saved.shift();
    let row = 0;
    const finish = (): void => {
      if (next && next.live > 0) chunks.push(next);
      else if (next) this.#save(next.first, null);
      next = saved.shift();
      row = 0;
    };
    for (const item of items) {
      while (next && next.last < item.revision) finish();
      if (next) while (row < next.length && next.revisions[row]! < item.revision) row++;
      const known = next && next.revisions[row] === item.revision;
      // If an object lies within a saved chunk but is missing in it, the chunk is useless.
      if (!known && next && item.revision > next.first) {
        this.#rebuild(items);
        return;
      }
      if (known) {
        next!.rows[row] = item;
        next!.live++;
      } else unsaved().append(item);
    }
    while (next) finish();
    this.#chunks = chunks;
    this.#size = chunks.reduce((sum, { live }) => sum + live, 0);
    this.#fill(missing);
  }

  /** Resolves when every object is indexed, in the background. */
  get filled(): Promise<void> {
    return this.#filling?.done ?? Promise.resolve();
  }

  /** Resolves when every object is indexed. */
  async ready(): Promise<void> {
    this.#filling?.work.promote();
    await this.#filling?.done;
  }

  replace(old: CachedObject | undefined, item: CachedObject | undefined): void {
    if (old) this.#remove(old);
    if (item) this.#add(item);
  }

  /**
   * Returns a small superset of the matching objects. Returns undefined if the selector requires no exact
   * field value, or if too many objects have it.
   */
  candidates({ fields }: Selector): CachedObject[] | undefined {
    const lookups: { readonly column: number; readonly hash: number }[] = [];
    for (const { key, operator, values } of fields) {
      const column = this.#columnOf.get(key);
      if (column !== undefined && operator === "in" && values.length === 1)
        lookups.push({ column, hash: hashOf(values[0]!) });
    }
    const [first, ...others] = lookups;
    if (!first || this.#filling) return undefined;
    const most = Math.max(fullScanRows, this.#size * maxFraction);
    const found: CachedObject[] = [];
    for (const { columns, rows, length } of this.#chunks) {
      const column = columns[first.column]!;
      // Most chunks have no match: a native search skips them. A loop over all of them would run unoptimized
      // in the first lookup, at ten times the cost.
      const start = column.indexOf(first.hash);
      if (start < 0) continue;
      for (let row = start; row < length; row++) {
        if (column[row] !== first.hash) continue;
        const item = rows[row];
        if (item && others.every((other) => columns[other.column]![row] === other.hash)) found.push(item);
      }
      if (found.length > most) return undefined;
    }
    return found;
  }

  clear(): void {
    this.#generation++;
    this.#chunks = [];
    this.#size = 0;
    this.#filling = undefined;
  }

  #add(item: CachedObject): void {
    let last = this.#chunks.at(-1);
    if (!last || last.saved || last.length === chunkRows)
      this.#chunks.push((last = emptyChunk(this.#options.fields.length)));
    last.append(item);
    this.#size++;
    this.#hash(last, last.length - 1, item);
    if (last.length === chunkRows && last.filled) this.#seal(last);
  }

  #remove({ revision }: CachedObject): void {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#chunks[middle]!.first <= revision) low = middle;
      else high = middle - 1;
    }
    const chunk = this.#chunks[low];
    if (!chunk?.drop(revision)) return;
    this.#size--;
    if (chunk.live < chunkRows / 4) this.#shrink(low);
  }

  /** Merges sparse chunks, so that a few old objects do not occupy the space of many. */
  #shrink(at: number): void {
    const chunk = this.#chunks[at]!;
    if (!chunk.saved) return;
    if (chunk.live === 0) {
      this.#chunks.splice(at, 1);
      this.#save(chunk.first, null);
      return;
    }
    for (const first of [at - 1, at]) {
      const before = this.#chunks[first];
      const after = this.#chunks[first + 1];
      if (!before?.saved || !after?.saved || before.live + after.live > chunkRows / 2) continue;
      const merged = mergedChunk(before, after);
      this.#chunks.splice(first, 2, merged);
      for (const gone of [before, after]) if (gone.first !== merged.first) this.#save(gone.first, null);
      this.#seal(merged);
      return;
    }
  }

  #hash(chunk: ColumnChunk, row: number, item: CachedObject): void {
    for (const [column, field] of this.#options.fields.entries())
      chunk.columns[column]![row] = hashOf(fieldOf(item, field));
  }

  /** Reads the objects of unsaved chunks in order of revision, a batch at a time. */
  #fill(chunks: readonly ColumnChunk[]): void {
    const generation = this.#generation;
    for (const chunk of chunks) chunk.filled = false;
    const work = new TimeSlice("background");
    const fill = async (): Promise<void> => {
      for (const chunk of chunks) {
        for (let row = 0; row < chunk.length; row++) {
          if (row % batchRows === 0) this.#preload(chunk, row);
          const item = chunk.rows[row];
          if (item) this.#hash(chunk, row, item);
          if (work.tick()) await work.yield();
          if (generation !== this.#generation) return;
        }
        chunk.filled = true;
        if (chunk.length === chunkRows) this.#seal(chunk);
      }
      this.#filling = undefined;
    };
    // If an object cannot be read the columns remain incomplete, and lookups scan all objects.
    if (chunks.length > 0)
      this.#filling = {
        work,
        done: Promise.resolve()
          .then(fill)
          .catch(() => undefined),
      };
  }

  #preload({ rows }: ColumnChunk, from: number): void {
    this.#options.preload?.(rows.slice(from, from + batchRows).filter((item) => item !== undefined));
  }

  #rebuild(items: readonly CachedObject[]): void {
    for (const { piece } of this.#options.derived.read(this.#options.name)) this.#save(piece, null);
    const chunks: ColumnChunk[] = [];
    for (const item of items) {
      let last = chunks.at(-1);
      if (!last || last.length === chunkRows) chunks.push((last = emptyChunk(this.#options.fields.length)));
      last.append(item);
      this.#size++;
    }
    this.#chunks = chunks;
    this.#fill(chunks);
  }

  #saved(): ColumnChunk[] {
    const { derived, name, fields } = this.#options;
    const chunks: ColumnChunk[] = [];
    for (const { piece, bytes } of derived.read(name)) {
      const chunk = decodeChunk(bytes, fields);
      if (chunk && chunk.first === piece && chunk.first > (chunks.at(-1)?.last ?? 0)) chunks.push(chunk);
      else this.#save(piece, null);
    }
    return chunks;
  }

  #seal(chunk: ColumnChunk): void {
    chunk.saved = true;
    this.#save(chunk.first, encodeChunk(chunk, this.#options.fields));
  }

  /** A chunk that could not be saved is computed again after a restart. */
  #save(piece: number, bytes: Uint8Array | null): void {
    this.#options.derived.write(this.#options.name, piece, bytes).catch(() => undefined);
  }
}

/** 32-bit FNV-1a. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
