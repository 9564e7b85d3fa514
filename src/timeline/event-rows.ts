// The data the index needs about a few thousand events, in order of revision: columns of numbers, and each
// object and each facet once. Also defines the serialized form.
//
//   saved   length of the header (4 bytes)   header, JSON   padding to 8   revisions, first and last times, 8 bytes
//           each   indices of objects and facets in the header, 4 bytes each
import { type FacetValues, facetKey } from "./facets.ts";
import { type ObjectName, laneKey } from "./lane.ts";
import type { EventReading } from "./stored-event.ts";

/**
 * Maximum number of rows per piece. Every piece has a header with its objects, so larger pieces repeat fewer
 * of them.
 */
export const maxRows = 65_536;
/** Version of the serialized form; to be changed with the form or with how events are read. */
const format = 2;
const bytesPerRow = 3 * 8 + 2 * 4;

/** Initial capacity in rows, doubled when full: most servers have few events. */
const initialRows = 256;

interface Columns {
  readonly revisions: Float64Array;
  readonly first: Float64Array;
  readonly last: Float64Array;
  readonly objectAt: Uint32Array;
  readonly facetAt: Uint32Array;
}

function columnsIn(data: ArrayBuffer): Columns {
  const rows = data.byteLength / bytesPerRow;
  return {
    revisions: new Float64Array(data, 0, rows),
    first: new Float64Array(data, rows * 8, rows),
    last: new Float64Array(data, rows * 16, rows),
    objectAt: new Uint32Array(data, rows * 24, rows),
    facetAt: new Uint32Array(data, rows * 28, rows),
  };
}

export class EventRows {
  #columns: Columns;
  readonly objects: ObjectName[] = [];
  readonly facets: FacetValues[] = [];
  readonly #objectPlaces = new Map<string, number>();
  readonly #facetPlaces = new Map<string, number>();
  length: number;

  /** Creates rows from the saved columns, or empty ones. */
  constructor(saved?: ArrayBuffer) {
    this.#columns = columnsIn(saved ?? new ArrayBuffer(initialRows * bytesPerRow));
    this.length = saved ? this.revisions.length : 0;
  }

  get revisions(): Float64Array {
    return this.#columns.revisions;
  }

  /** Microseconds since the epoch. */
  get first(): Float64Array {
    return this.#columns.first;
  }

  get last(): Float64Array {
    return this.#columns.last;
  }

  /** The index of each row's object in `objects`. */
  get objectAt(): Uint32Array {
    return this.#columns.objectAt;
  }

  /** The index of each row's values in `facets`. */
  get facetAt(): Uint32Array {
    return this.#columns.facetAt;
  }

  get firstRevision(): number {
    return this.revisions[0]!;
  }

  get lastRevision(): number {
    return this.revisions[this.length - 1]!;
  }

  /** Appends an event, whose revision must be greater than all others. */
  append(revision: number, { object, facet, first, last }: Omit<EventReading, "count">): void {
    const row = this.length++;
    if (row === this.revisions.length) this.#grow();
    this.revisions[row] = revision;
    this.first[row] = first;
    this.last[row] = last;
    this.objectAt[row] = placeOf(this.objects, this.#objectPlaces, laneKey(object), object);
    this.facetAt[row] = placeOf(this.facets, this.#facetPlaces, facetKey(facet), facet);
  }

  #grow(): void {
    const before = this.#columns;
    this.#columns = columnsIn(
      new ArrayBuffer(Math.max(initialRows, 2 * before.revisions.length) * bytesPerRow),
    );
    this.revisions.set(before.revisions);
    this.first.set(before.first);
    this.last.set(before.last);
    this.objectAt.set(before.objectAt);
    this.facetAt.set(before.facetAt);
  }

  /** Returns the row of a revision, or a negative number if it is absent. */
  rowOf(revision: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.revisions[middle]! < revision) low = middle + 1;
      else high = middle;
    }
    return low < this.length && this.revisions[low] === revision ? low : -1;
  }

  reading(row: number): Omit<EventReading, "count"> {
    return {
      object: this.objects[this.objectAt[row]!]!,
      facet: this.facets[this.facetAt[row]!]!,
      first: this.first[row]!,
      last: this.last[row]!,
    };
  }
}

function placeOf<T>(values: T[], places: Map<string, number>, key: string, value: T): number {
  let place = places.get(key);
  if (place === undefined) {
    places.set(key, (place = values.length));
    values.push(value);
  }
  return place;
}

interface Header {
  readonly format: number;
  readonly rows: number;
  readonly facets: readonly FacetValues[];
  /** Group, kind and namespace, which many objects share. */
  readonly kinds: readonly (readonly [group: string, kind: string, namespace: string])[];
  /** One element per object in each of these. */
  readonly kindAt: readonly number[];
  readonly names: readonly string[];
  readonly uids: readonly string[];
}

const paddedTo8 = (bytes: number): number => Math.ceil(bytes / 8) * 8;

export function encodeRows(rows: EventRows): Uint8Array {
  const { length, objects, facets } = rows;
  const kinds: Header["kinds"][number][] = [];
  const places = new Map<string, number>();
  const kindAt = objects.map(({ group, kind, namespace }) =>
    placeOf(kinds, places, JSON.stringify([group, kind, namespace]), [group, kind, namespace]),
  );
  const [names, uids] = [objects.map(({ name }) => name), objects.map(({ uid }) => uid)];
  const header = Buffer.from(
    JSON.stringify({ format, rows: length, facets, kinds, kindAt, names, uids } satisfies Header),
  );
  const start = paddedTo8(4 + header.length);
  const bytes = Buffer.alloc(start + length * bytesPerRow);
  bytes.writeUInt32LE(header.length, 0);
  header.copy(bytes, 4);
  let at = start;
  for (const column of [rows.revisions, rows.first, rows.last, rows.objectAt, rows.facetAt]) {
    const used = column.subarray(0, length);
    bytes.set(new Uint8Array(used.buffer, used.byteOffset, used.byteLength), at);
    at += used.byteLength;
  }
  return bytes;
}

/** Decodes saved rows; returns undefined if the bytes have another format. */
export function decodeRows(bytes: Uint8Array): EventRows | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.length < 4) return undefined;
  const headerLength = view.readUInt32LE(0);
  const start = paddedTo8(4 + headerLength);
  if (start > view.length) return undefined;
  const header = headerOf(view.toString("utf8", 4, 4 + headerLength));
  if (header?.format !== format || view.length !== start + header.rows * bytesPerRow) return undefined;
  // The copy is aligned, the original need not be.
  const rows = new EventRows(new Uint8Array(view.subarray(start)).buffer);
  const { kinds, kindAt, names, uids } = header;
  for (let at = 0; at < kindAt.length; at++) {
    const [group, kind, namespace] = kinds[kindAt[at]!]!;
    rows.objects.push({ group, kind, namespace, name: names[at]!, uid: uids[at]! });
  }
  for (const facet of header.facets) rows.facets.push(facet);
  return rows;
}

export interface RowSpan {
  readonly first: number;
  readonly last: number;
  readonly rows: number;
}

/**
 * Returns the revisions of saved rows without reading the rest, or undefined if the bytes have another
 * format.
 */
export function spanOf(bytes: Uint8Array): RowSpan | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.length < 4) return undefined;
  const start = paddedTo8(4 + view.readUInt32LE(0));
  const rows = (view.length - start) / bytesPerRow;
  const begin = `{"format":${format},"rows":${rows},`;
  if (!Number.isInteger(rows) || rows < 1 || view.toString("utf8", 4, 4 + begin.length) !== begin)
    return undefined;
  return { first: view.readDoubleLE(start), last: view.readDoubleLE(start + (rows - 1) * 8), rows };
}

function headerOf(text: string): Header | undefined {
  try {
    return JSON.parse(text) as Header;
  } catch {
    return undefined;
  }
}
