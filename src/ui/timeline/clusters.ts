// Groups marks of a lane that would overlap on the screen, so that the cost of drawing is limited by the
// width of the screen.

export interface Scale {
  /** The times at the left edge and at the right edge. */
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

/** The start of the marks' intervals and their width, in milliseconds. */
export interface Grid {
  readonly start: number;
  readonly interval: number;
}

export interface Cluster {
  /** The position of the center on the screen, and of the edges of its intervals. */
  readonly x: number;
  readonly left: number;
  readonly right: number;
  readonly from: number;
  readonly to: number;
  readonly normal: number;
  readonly warnings: number;
  readonly changes: number;
}

export const xOf = ({ from, to, width }: Scale, time: number): number =>
  ((time - from) / (to - from)) * width;
export const timeAt = ({ from, to, width }: Scale, x: number): number => from + (x / width) * (to - from);

/**
 * Returns the clusters of a lane. `marks` has four numbers per interval: its index, normal events, warnings,
 * changes.
 */
export function clustersOf(
  marks: readonly number[],
  { start, interval }: Grid,
  scale: Scale,
  nearest: number,
): readonly Cluster[] {
  const clusters: Cluster[] = [];
  const perPixel = scale.width / (scale.to - scale.from);
  const first = firstFrom(marks, Math.floor((scale.from - start) / interval) - 1);
  for (let at = first; at + 3 < marks.length; at += 4) {
    const from = start + marks[at]! * interval;
    const left = (from - scale.from) * perPixel;
    if (left > scale.width) break;
    const right = left + interval * perPixel;
    if (right < 0) continue;
    const before = clusters.at(-1);
    const x = (left + right) / 2;
    if (before && x - before.x < nearest)
      clusters[clusters.length - 1] = {
        ...before,
        right,
        to: from + interval,
        normal: before.normal + marks[at + 1]!,
        warnings: before.warnings + marks[at + 2]!,
        changes: before.changes + marks[at + 3]!,
      };
    else
      clusters.push({
        x,
        left,
        right,
        from,
        to: from + interval,
        normal: marks[at + 1]!,
        warnings: marks[at + 2]!,
        changes: marks[at + 3]!,
      });
  }
  return clusters;
}

/** Returns the position of the first mark with at least this index. */
function firstFrom(marks: readonly number[], index: number): number {
  let [low, high] = [0, marks.length >> 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (marks[middle * 4]! < index) low = middle + 1;
    else high = middle;
  }
  return low * 4;
}

/** Returns the cluster closest to a position on the screen, if it is within reach. */
export function clusterAt(clusters: readonly Cluster[], x: number, reach: number): Cluster | undefined {
  let best: Cluster | undefined;
  for (const each of clusters) {
    const away = Math.abs(each.x - x);
    if (away <= reach && (!best || away < Math.abs(best.x - x))) best = each;
  }
  return best;
}
