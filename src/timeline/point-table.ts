// All points, each identified by its number: columns instead of objects, since there may be a million. The
// order and grouping of points is kept in `Points`.
import type { CachedObject } from "#watchcache";
import type { JournalRecord } from "./journal-record.ts";
import type { Lane } from "./lane.ts";
import type { Facet, TimelineRecord } from "./record.ts";

/** One mark on the time axis. */
export interface Point {
  /** Microseconds since the epoch. */
  readonly time: number;
  /** Orders points with the same time. */
  readonly sequence: number;
  /** The occurrence of a series this point stands for; single occurrences are "first". */
  readonly edge: "first" | "last";
  readonly record: TimelineRecord;
}

/** What a point stands for: the first or the last occurrence of an event, or a change of an object. */
export type PointKind = typeof firstOccurrence | typeof lastOccurrence | typeof objectChange;
export const firstOccurrence = 0;
export const lastOccurrence = 1;
export const objectChange = 2;

export class PointTable {
  #times = new Float64Array(64);
  #sequences = new Float64Array(64);
  #kinds = new Uint8Array(64);
  readonly #sources: (CachedObject | JournalRecord | undefined)[] = [];
  readonly #lanes: (Lane | undefined)[] = [];
  readonly #facets: (Facet | undefined)[] = [];
  readonly #free: number[] = [];

  add(
    time: number,
    kind: PointKind,
    source: CachedObject | JournalRecord,
    place: { readonly lane: Lane; readonly facet: Facet },
  ): number {
    const number = this.#free.pop() ?? this.#sources.length;
    if (number === this.#times.length) this.#grow();
    this.#times[number] = time;
    // A change sorts after the events of its revision.
    this.#sequences[number] = source.revision * 2 + (kind === objectChange ? 1 : 0);
    this.#kinds[number] = kind;
    this.#sources[number] = source;
    this.#lanes[number] = place.lane;
    this.#facets[number] = place.facet;
    return number;
  }

  delete(number: number): void {
    this.#sources[number] = this.#lanes[number] = this.#facets[number] = undefined;
    this.#free.push(number);
  }

  time(number: number): number {
    return this.#times[number]!;
  }

  sequence(number: number): number {
    return this.#sequences[number]!;
  }

  lane(number: number): Lane {
    return this.#lanes[number]!;
  }

  facet(number: number): Facet {
    return this.#facets[number]!;
  }

  point(number: number): Point {
    const kind = this.#kinds[number]!;
    const [lane, facet] = [this.lane(number), this.facet(number)];
    const source = this.#sources[number]!;
    return {
      time: this.time(number),
      sequence: this.sequence(number),
      edge: kind === lastOccurrence ? "last" : "first",
      record:
        kind === objectChange
          ? { from: "object", change: source as JournalRecord, lane, facet }
          : { from: "event", item: source as CachedObject, lane, facet },
    };
  }

  /** Sorts point numbers by time, and by sequence within the same time. */
  inTimeOrder(numbers: readonly number[] | Uint32Array): Uint32Array {
    const bySequence = sortedBy(numbers, (number) => this.#sequences[number]!);
    return sortedBy(bySequence, (number) => this.#times[number]!);
  }

  #grow(): void {
    const capacity = this.#times.length * 2;
    const [times, sequences, kinds] = [
      new Float64Array(capacity),
      new Float64Array(capacity),
      new Uint8Array(capacity),
    ];
    times.set(this.#times);
    sequences.set(this.#sequences);
    kinds.set(this.#kinds);
    this.#times = times;
    this.#sequences = sequences;
    this.#kinds = kinds;
  }
}

/** Sorts stably by a value. Sorting plain numbers is much faster than with a comparison function. */
export function sortedBy(
  numbers: readonly number[] | Uint32Array,
  valueOf: (number: number) => number,
): Uint32Array {
  const count = numbers.length;
  const keys = new Float64Array(count);
  let least = Infinity;
  let most = -Infinity;
  let isSorted = true;
  for (let at = 0; at < count; at++) {
    const value = valueOf(numbers[at]!);
    keys[at] = value;
    if (value < most) isSorted = false;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (isSorted) return Uint32Array.from(numbers);
  const sorted = new Uint32Array(count);
  // Combine value and index into one number if that fits.
  if ((most - least + 1) * count <= Number.MAX_SAFE_INTEGER) {
    for (let at = 0; at < count; at++) keys[at] = (keys[at]! - least) * count + at;
    keys.sort();
    for (let at = 0; at < count; at++) sorted[at] = numbers[keys[at]! % count]!;
    return sorted;
  }
  for (let at = 0; at < count; at++) sorted[at] = at;
  sorted.sort((a, b) => keys[a]! - keys[b]! || a - b);
  for (let at = 0; at < count; at++) sorted[at] = numbers[sorted[at]!]!;
  return sorted;
}
