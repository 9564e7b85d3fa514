// What the index needs of some thousand events, in the order of their revisions: columns of numbers, and each object
// and each combination of values once. Also the form in which that is saved.
//
//   saved   length of the header (4 bytes)   header, JSON   padding to 8   revisions, first and last times, 8 bytes
//           each   places of objects and facets in the header, 4 bytes each
import { type FacetValues, facetKey } from "./facets.ts";
import { type ObjectName, laneKey } from "./lane.ts";
import type { EventReading } from "./stored-event.ts";

/** Objects stand in the header of each piece in which they occur: large pieces repeat fewer of them. */
export const mostRows = 65_536;
/** Another number for another form, or when events are read otherwise. */
const format = 1;
const bytesPerRow = 3 * 8 + 2 * 4;

/** Room for so many rows is made first, and twice as much when it is full: most servers have few events. */
const firstRoom = 256;

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

  /** With bytes: the columns as they were saved. */
  constructor(saved?: ArrayBuffer) {
    this.#columns = columnsIn(saved ?? new ArrayBuffer(firstRoom * bytesPerRow));
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

  /** The place of each row's object in `objects`. */
  get objectAt(): Uint32Array {
    return this.#columns.objectAt;
  }

  /** The place of each row's values in `facets`. */
  get facetAt(): Uint32Array {
    return this.#columns.facetAt;
  }

  get firstRevision(): number {
    return this.revisions[0]!;
  }

  get lastRevision(): number {
    return this.revisions[this.length - 1]!;
  }

  /** Adds an event; its revision is behind all others. */
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
      new ArrayBuffer(Math.max(firstRoom, 2 * before.revisions.length) * bytesPerRow),
    );
    this.revisions.set(before.revisions);
    this.first.set(before.first);
    this.last.set(before.last);
    this.objectAt.set(before.objectAt);
    this.facetAt.set(before.facetAt);
  }

  /** The row of a revision; negative where there is none. */
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
  /** One of each for every object. */
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

/** Undefined when the bytes are of another form. */
export function decodeRows(bytes: Uint8Array): EventRows | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.length < 4) return undefined;
  const headerLength = view.readUInt32LE(0);
  const start = paddedTo8(4 + headerLength);
  if (start > view.length) return undefined;
  const header = headerOf(view.toString("utf8", 4, 4 + headerLength));
  if (header?.format !== format || view.length !== start + header.rows * bytesPerRow) return undefined;
  // A copy of its own is aligned.
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

/** Which revisions saved rows have, without reading the rest; undefined when the bytes are of another form. */
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
