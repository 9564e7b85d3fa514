// Divides a time range into intervals of round width with round start times, for charts.

const second = 1_000_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const roundWidths = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7].map((count) => count * day),
];

export interface Intervals {
  /** In microseconds, like the width. */
  readonly start: number;
  readonly width: number;
  readonly count: number;
}

export const maxIntervals = 2000;

/** Returns at most `points` intervals, or intervals of the given width. */
export function intervalsOf(
  since: number,
  until: number,
  requested: { points?: number; width?: number },
): Intervals {
  const widthFor = (points: number): number =>
    roundWidths.find((each) => dividedBy(since, until, each).count <= points) ??
    Math.ceil((until - since) / Math.max(points - 1, 1) / day) * day;
  return dividedBy(since, until, requested.width ?? widthFor(requested.points ?? 120));
}

function dividedBy(since: number, until: number, width: number): Intervals {
  const start = Math.floor(since / width) * width;
  return { start, width, count: Math.max(Math.ceil((until - start) / width), 1) };
}
