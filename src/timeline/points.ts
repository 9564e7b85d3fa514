// Points in time order, with the data that scans need in columns of numbers. Most points are added at the end
// and removed at the front: removal marks a point, and the columns are compacted once an eighth of them is
// marked.
//
//   times     4   5   5   9  12          from(5) = 1, the first at 5 or later; equal times are ordered by sequence
//   facets    0   3  -1   0   7          -1 is removed
//   numbers  17   2   8   1   4          the number of each in the point table
import type { Point, PointTable } from "./point-table.ts";

/** A list of points in time order. */
export interface PointList {
  /** The number of places, including those of removed points. */
  readonly length: number;
  /** The number of points, without removed ones. */
  readonly size: number;
  timeAt(place: number): number;
  /** The facet's id; negative if the point was removed. */
  facetAt(place: number): number;
  at(place: number): Point;
  /** Returns the first place at or after this time and sequence. */
  from(time: number, sequence?: number): number;
  /** The numbers of the points in the table. */
  numbers(): Iterable<number>;
}

const minCapacity = 64;

export class Points implements PointList {
  readonly #table: PointTable;
  #times = new Float64Array(minCapacity);
  #sequences = new Float64Array(minCapacity);
  #facets = new Int32Array(minCapacity);
  #numbers = new Uint32Array(minCapacity);
  #length = 0;
  #removed = 0;

  constructor(table: PointTable) {
    this.#table = table;
  }

  get length(): number {
    return this.#length;
  }

  get size(): number {
    return this.#length - this.#removed;
  }

  timeAt(place: number): number {
    return this.#times[place]!;
  }

  facetAt(place: number): number {
    return this.#facets[place]!;
  }

  at(place: number): Point {
    return this.#table.point(this.#numbers[place]!);
  }

  *numbers(): Generator<number> {
    for (let place = 0; place < this.#length; place++)
      if (this.#facets[place]! >= 0) yield this.#numbers[place]!;
  }

  /** Makes room for `count` more points. */
  reserve(count: number): void {
    if (this.#length + count > this.#times.length) this.#resize(this.#length + count);
  }

  add(number: number): void {
    const time = this.#table.time(number);
    const sequence = this.#table.sequence(number);
    const length = this.#length;
    const place = length === 0 || time > this.#times[length - 1]! ? length : this.from(time, sequence);
    if (place === length) {
      this.append(number);
      return;
    }
    if (length === this.#times.length) this.#resize(length * 2);
    for (const column of [this.#times, this.#sequences, this.#facets, this.#numbers])
      column.copyWithin(place + 1, place, length);
    this.#length++;
    this.#put(place, number);
  }

  /** Appends a point that is later than all others. */
  append(number: number): void {
    if (this.#length === this.#times.length) this.#resize(this.#length * 2);
    this.#put(this.#length++, number);
  }

  #put(place: number, number: number): void {
    this.#times[place] = this.#table.time(number);
    this.#sequences[place] = this.#table.sequence(number);
    this.#facets[place] = this.#table.facet(number).id;
    this.#numbers[place] = number;
  }

  remove(number: number): void {
    let place = this.from(this.#table.time(number), this.#table.sequence(number));
    // A number that was used before may still be at a place that is marked as removed.
    while (place < this.#length && (this.#numbers[place] !== number || this.#facets[place]! < 0)) place++;
    if (place === this.#length) return;
    this.#facets[place] = -1;
    this.#removed++;
    if (this.#removed >= 64 && this.#removed * 8 >= this.#length) this.#sweep();
  }

  from(time: number, sequence = -1): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = this.#times[middle]!;
      if (found < time || (found === time && this.#sequences[middle]! < sequence)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  first(): Point | undefined {
    for (let place = 0; place < this.length; place++) if (this.#facets[place]! >= 0) return this.at(place);
    return undefined;
  }

  last(): Point | undefined {
    for (let place = this.length - 1; place >= 0; place--)
      if (this.#facets[place]! >= 0) return this.at(place);
    return undefined;
  }

  #sweep(): void {
    let kept = 0;
    for (let place = 0; place < this.#length; place++) {
      if (this.#facets[place]! < 0) continue;
      this.#times[kept] = this.#times[place]!;
      this.#sequences[kept] = this.#sequences[place]!;
      this.#facets[kept] = this.#facets[place]!;
      this.#numbers[kept] = this.#numbers[place]!;
      kept++;
    }
    this.#length = kept;
    this.#removed = 0;
    if (kept * 4 < this.#times.length) this.#resize(Math.max(kept * 2, minCapacity));
  }

  #resize(capacity: number): void {
    const [times, sequences] = [new Float64Array(capacity), new Float64Array(capacity)];
    const [facets, numbers] = [new Int32Array(capacity), new Uint32Array(capacity)];
    times.set(this.#times.subarray(0, this.#length));
    sequences.set(this.#sequences.subarray(0, this.#length));
    facets.set(this.#facets.subarray(0, this.#length));
    numbers.set(this.#numbers.subarray(0, this.#length));
    this.#times = times;
    this.#sequences = sequences;
    this.#facets = facets;
    this.#numbers = numbers;
  }
}

/** Merges several lists into one. */
export function joined(table: PointTable, several: readonly PointList[]): Points {
  const numbers: number[] = [];
  for (const each of several) for (const number of each.numbers()) numbers.push(number);
  const whole = new Points(table);
  whole.reserve(numbers.length);
  for (const number of table.inTimeOrder(numbers)) whole.append(number);
  return whole;
}
