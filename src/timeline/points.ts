// Points in time order. Most arrive at the end and leave at the front: removal marks a point, and the array is
// swept once an eighth of it is marked.
//
//   time    4   5   5   9  12          from(5) = 1, the first at 5 or later; equal times keep their order of arrival
//   index   0   1   2   3   4
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
  removed: boolean;
}

const before = (a: Point, time: number, sequence: number): boolean =>
  a.time < time || (a.time === time && a.sequence < sequence);

export const inTimeOrder = (a: Point, b: Point): number => a.time - b.time || a.sequence - b.sequence;

export class Points {
  #points: Point[] = [];
  #removed = 0;

  /** Includes the removed ones: skip them. */
  get all(): readonly Point[] {
    return this.#points;
  }

  get size(): number {
    return this.#points.length - this.#removed;
  }

  add(point: Point): void {
    const last = this.#points.at(-1);
    if (!last || before(last, point.time, point.sequence)) this.#points.push(point);
    else this.#points.splice(this.from(point.time, point.sequence), 0, point);
  }

  /** To be told of each removed point once, after it was marked. */
  forget(): void {
    this.#removed++;
    if (this.#removed < 64 || this.#removed * 8 < this.#points.length) return;
    this.#points = this.#points.filter(({ removed }) => !removed);
    this.#removed = 0;
  }

  /** The index of the first point at this place or behind it. */
  from(time: number, sequence = -1): number {
    let low = 0;
    let high = this.#points.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (before(this.#points[middle]!, time, sequence)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  first(): Point | undefined {
    return this.#points.find(({ removed }) => !removed);
  }

  last(): Point | undefined {
    return this.#points.findLast(({ removed }) => !removed);
  }
}

/** The points of several, in one order. */
export function joined(several: readonly Points[]): Points {
  const points = several.flatMap(({ all }) => all).filter(({ removed }) => !removed);
  const whole = new Points();
  for (const point of points.sort(inTimeOrder)) whole.add(point);
  return whole;
}
