// Points in time order, with what scans need in columns of numbers beside them. Most points arrive at the end and
// leave at the front: removal marks a point, and the columns are swept once an eighth of them is marked.
//
//   times    4   5   5   9  12          from(5) = 1, the first at 5 or later; equal times are ordered by sequence
//   facets   0   3  -1   0   7          -1 is removed
import type { TimelineRecord } from "./record.ts";

/** One mark on the time axis. */
export interface Point {
  /** Microseconds since the epoch. */
  readonly time: number;
  /** Counts up over all points: orders those of the same time. */
  readonly sequence: number;
  /** Which occurrence of a series this is; single occurrences are the first. */
  readonly edge: "first" | "last";
  readonly record: TimelineRecord;
}

export const inTimeOrder = (a: Point, b: Point): number => a.time - b.time || a.sequence - b.sequence;

const fewest = 4;

export class Points {
  #points: Point[] = [];
  #times = new Float64Array(fewest);
  #facets = new Int32Array(fewest);
  #removed = 0;

  /** How many places there are, those of removed points included. */
  get length(): number {
    return this.#points.length;
  }

  get size(): number {
    return this.#points.length - this.#removed;
  }

  /** Valid up to `length`, until the next change. */
  get times(): Float64Array {
    return this.#times;
  }

  /** The facet's id at each place; negative where the point was removed. */
  get facets(): Int32Array {
    return this.#facets;
  }

  at(place: number): Point {
    return this.#points[place]!;
  }

  add(point: Point): void {
    const length = this.#points.length;
    if (length === this.#times.length) this.#grow(length * 2);
    const last = this.#points[length - 1];
    const place = !last || inTimeOrder(last, point) < 0 ? length : this.from(point.time, point.sequence);
    if (place < length) {
      this.#times.copyWithin(place + 1, place, length);
      this.#facets.copyWithin(place + 1, place, length);
      this.#points.splice(place, 0, point);
    } else this.#points.push(point);
    this.#times[place] = point.time;
    this.#facets[place] = point.record.facet.id;
  }

  remove(point: Point): void {
    let place = this.from(point.time, point.sequence);
    while (place < this.#points.length && this.#points[place] !== point) place++;
    if (place === this.#points.length) return;
    this.#facets[place] = -1;
    this.#removed++;
    if (this.#removed >= 64 && this.#removed * 8 >= this.#points.length) this.#sweep();
  }

  /** The first place at this time and sequence or behind it. */
  from(time: number, sequence = -1): number {
    let low = 0;
    let high = this.#points.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = this.#times[middle]!;
      if (found < time || (found === time && this.#points[middle]!.sequence < sequence)) low = middle + 1;
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
    for (let place = 0; place < this.#points.length; place++) {
      if (this.#facets[place]! < 0) continue;
      this.#points[kept] = this.#points[place]!;
      this.#times[kept] = this.#times[place]!;
      this.#facets[kept] = this.#facets[place]!;
      kept++;
    }
    this.#points.length = kept;
    this.#removed = 0;
    if (kept * 4 < this.#times.length) this.#grow(Math.max(kept * 2, fewest));
  }

  #grow(capacity: number): void {
    const length = this.#points.length;
    const [times, facets] = [new Float64Array(capacity), new Int32Array(capacity)];
    times.set(this.#times.subarray(0, length));
    facets.set(this.#facets.subarray(0, length));
    this.#times = times;
    this.#facets = facets;
  }
}

/** The points of several, in one order. */
export function joined(several: readonly Points[]): Points {
  const points: Point[] = [];
  for (const each of several)
    for (let place = 0; place < each.length; place++)
      if (each.facets[place]! >= 0) points.push(each.at(place));
  const whole = new Points();
  for (const point of points.sort(inTimeOrder)) whole.add(point);
  return whole;
}
