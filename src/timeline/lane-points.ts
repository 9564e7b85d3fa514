// The points of one object in time order. There are many objects with few points each, so this is a plain
// list of point numbers; the data is in the point table.
import type { Point, PointTable } from "./point-table.ts";
import type { PointList } from "./points.ts";

export class LanePoints implements PointList {
  readonly #table: PointTable;
  readonly #numbers: number[] = [];

  constructor(table: PointTable) {
    this.#table = table;
  }

  get length(): number {
    return this.#numbers.length;
  }

  get size(): number {
    return this.#numbers.length;
  }

  timeAt(place: number): number {
    return this.#table.time(this.#numbers[place]!);
  }

  facetAt(place: number): number {
    return this.#table.facet(this.#numbers[place]!).id;
  }

  at(place: number): Point {
    return this.#table.point(this.#numbers[place]!);
  }

  numbers(): Iterable<number> {
    return this.#numbers;
  }

  add(number: number): void {
    const place = this.from(this.#table.time(number), this.#table.sequence(number));
    if (place === this.#numbers.length) this.#numbers.push(number);
    else this.#numbers.splice(place, 0, number);
  }

  /** Appends a point that is later than all others. */
  append(number: number): void {
    this.#numbers.push(number);
  }

  remove(number: number): void {
    let place = this.from(this.#table.time(number), this.#table.sequence(number));
    while (place < this.#numbers.length && this.#numbers[place] !== number) place++;
    if (place < this.#numbers.length) this.#numbers.splice(place, 1);
  }

  from(time: number, sequence = -1): number {
    const table = this.#table;
    let low = 0;
    let high = this.#numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const number = this.#numbers[middle]!;
      const found = table.time(number);
      if (found < time || (found === time && table.sequence(number) < sequence)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
