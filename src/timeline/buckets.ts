// Counts points per interval and group, for charts.
import { type Intervals, intervalsOf, maxIntervals } from "./intervals.ts";
import { badRequest, fieldErrorText, invalidValue } from "#base";
import { type Selection, visitTimes } from "./selection.ts";
import type { BucketGroup } from "./wire.ts";

/** Maximum number of groups; the smallest beyond it are counted together. */
const maxGroups = 100;

export interface BucketCounts {
  readonly intervals: Intervals;
  readonly groups: readonly BucketGroup[];
}

interface Group extends BucketGroup {
  total: number;
  readonly counts: number[];
}

export function bucketsOf(selection: Selection): BucketCounts {
  const { parameters, since, end } = selection;
  const { points, intervalMicros: width } = parameters;
  const intervals = intervalsOf(since, end, {
    ...(points !== undefined && { points }),
    ...(width !== undefined && { width }),
  });
  if (intervals.count > maxIntervals)
    throw badRequest(
      fieldErrorText(
        invalidValue(
          "interval",
          `${width! / 1e6}s`,
          `gives ${intervals.count} intervals, at most ${maxIntervals} are served`,
        ),
      ),
    );
  const rows = countedByFacet(selection, intervals);
  return { intervals, groups: grouped(selection, rows, intervals.count) };
}

/** Returns one row of counts per facet that has any, by facet id. */
function countedByFacet(selection: Selection, { start, width, count }: Intervals): Map<number, number[]> {
  const rows: number[][] = [];
  visitTimes(selection, (time, facet) => {
    const row = (rows[facet] ??= Array.from({ length: count }, () => 0));
    row[Math.floor((time - start) / width)]!++;
  });
  const found = new Map<number, number[]>();
  rows.forEach((row, facet) => found.set(facet, row));
  return found;
}

/** Adds up the rows of facets with the same values; the smallest groups share one row. */
function grouped(
  { index, parameters }: Selection,
  rows: ReadonlyMap<number, readonly number[]>,
  length: number,
): readonly BucketGroup[] {
  const groups = new Map<string, Group>();
  for (const facet of index.facets.all()) {
    const row = rows.get(facet.id);
    if (!row) continue;
    const values = parameters.by.map((name) => [name, facet[name]] as const);
    add(
      groups.getOrInsertComputed(JSON.stringify(values), () => newGroup(Object.fromEntries(values), length)),
      row,
    );
  }
  const ranked = [...groups.values()].sort((a, b) => b.total - a.total);
  if (ranked.length <= maxGroups) return ranked;
  const rest = newGroup({}, length);
  for (const { counts } of ranked.slice(maxGroups)) add(rest, counts);
  return [...ranked.slice(0, maxGroups), rest];
}

const newGroup = (by: Group["by"], length: number): Group => ({
  by,
  total: 0,
  counts: Array.from({ length }, () => 0),
});

function add(group: Group, row: readonly number[]): void {
  for (const [at, count] of row.entries()) {
    group.counts[at]! += count;
    group.total += count;
  }
}
