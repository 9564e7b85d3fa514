// Counts per interval and group, for charts.
import { type Intervals, intervalsOf, most } from "./intervals.ts";
import { badRequest, fieldErrorText, invalidValue } from "#base";
import type { Facet } from "./record.ts";
import { type Selection, pointsOf } from "./selection.ts";
import type { BucketGroup } from "./wire.ts";

/** Groups beyond this many, those with the least in them, are counted together. */
const mostGroups = 100;

export interface BucketAnswer {
  readonly intervals: Intervals;
  readonly groups: readonly BucketGroup[];
}

interface Group {
  readonly by: Record<string, string>;
  total: number;
  counts: number[];
}

export function bucketsOf(selection: Selection): BucketAnswer {
  const { question, since, end } = selection;
  const { points, intervalMicros: width } = question;
  const intervals = intervalsOf(since, end, {
    ...(points !== undefined && { points }),
    ...(width !== undefined && { width }),
  });
  if (intervals.count > most)
    throw badRequest(
      fieldErrorText(
        invalidValue(
          "interval",
          `${width! / 1e6}s`,
          `gives ${intervals.count} intervals, at most ${most} are served`,
        ),
      ),
    );
  const groups = groupsOf(selection);
  for (const point of pointsOf(selection)) {
    const group = groups[point.record.facet.id]!;
    const at = Math.floor((point.time - intervals.start) / intervals.width);
    group.counts[at] = (group.counts[at] ?? 0) + 1;
  }
  const rows = new Set(groups.filter((group) => group !== undefined && group.total > 0));
  const filled = (counts: readonly number[]): number[] =>
    Array.from({ length: intervals.count }, (_, at) => counts[at] ?? 0);
  return {
    intervals,
    groups: [...rows]
      .sort((a, b) => b.total - a.total)
      .map(({ by, total, counts }) => ({ by, total, counts: filled(counts) })),
  };
}

/** The group of each facet, by its id; the smallest share one. */
function groupsOf(selection: Selection): Group[] {
  const { index, question } = selection;
  const keyOf = (facet: Facet): string => JSON.stringify(question.by.map((name) => facet[name]));
  const byKey = new Map<string, Group>();
  const groups = index.facets.map((facet) =>
    byKey.getOrInsertComputed(keyOf(facet), () => ({
      by: Object.fromEntries(question.by.map((name) => [name, facet[name]])),
      total: 0,
      counts: [],
    })),
  );
  for (const { record } of pointsOf(selection)) groups[record.facet.id]!.total++;
  const ranked = [...byKey.values()].sort((a, b) => b.total - a.total);
  if (ranked.length <= mostGroups) return groups;
  const rest = new Set(ranked.slice(mostGroups));
  const other: Group = { by: {}, total: 0, counts: [] };
  for (const { total } of rest) other.total += total;
  return groups.map((group) => (rest.has(group) ? other : group));
}
