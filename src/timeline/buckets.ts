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
  return { intervals, groups: counted(selection, intervals) };
}

/**
 * Counts by group. Anyone who may create events can cause very many groups, so that only those that are shown
 * have a row of counts: if there are more, their totals are counted first.
 */
function counted(selection: Selection, intervals: Intervals): readonly BucketGroup[] {
  const { places, values } = placesOf(selection);
  const sizes = values.map(() => 0);
  if (values.length > maxGroups) visitTimes(selection, (_time, facet) => void sizes[places[facet]!]!++);
  const ranked = [...values.keys()].sort((a, b) => sizes[b]! - sizes[a]!);
  const own = ranked.slice(0, maxGroups).map((place) => newGroup(values[place]!, intervals.count));
  const rest = newGroup({}, intervals.count);
  const rows = values.map(() => rest);
  for (const [rank, group] of own.entries()) rows[ranked[rank]!] = group;
  const { start, width } = intervals;
  visitTimes(selection, (time, facet) => {
    const group = rows[places[facet]!]!;
    group.counts[Math.floor((time - start) / width)]!++;
    group.total++;
  });
  const shown = own.filter(({ total }) => total > 0).sort((a, b) => b.total - a.total);
  return rest.total > 0 ? [...shown, rest] : shown;
}

/** Returns the place of each facet's group by facet id, and the values of each group. */
function placesOf({ index, parameters, wanted }: Selection): {
  readonly places: readonly number[];
  readonly values: readonly Group["by"][];
} {
  const known = new Map<string, number>();
  const places: number[] = [];
  const values: Group["by"][] = [];
  for (const facet of index.facets.all()) {
    if (!wanted[facet.id]) continue;
    const pairs = parameters.by.map((name) => [name, facet[name]] as const);
    places[facet.id] = known.getOrInsertComputed(
      JSON.stringify(pairs),
      () => values.push(Object.fromEntries(pairs)) - 1,
    );
  }
  return { places, values };
}

const newGroup = (by: Group["by"], length: number): Group => ({
  by,
  total: 0,
  counts: Array.from({ length }, () => 0),
});
