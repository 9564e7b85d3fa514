// One lane per object with points in the range: counts by type, owners, whether it is alive.
import { objectOf } from "./entry.ts";
import { type Intervals, intervalsOf } from "./intervals.ts";
import { isAlive } from "./kinds.ts";
import type { Lane } from "./lane.ts";
import type { Question } from "./parameters.ts";
import type { Point } from "./points.ts";
import type { Selection } from "./selection.ts";
import { timeText } from "./stored-event.ts";
import type { TimelineLane } from "./wire.ts";

interface Counted {
  readonly lane: Lane;
  readonly counts: Record<string, number>;
  readonly first: number;
  readonly last: number;
}

export interface LanePage {
  readonly start: number;
  readonly end: number;
  readonly intervalMicros?: number;
  readonly total: number;
  readonly items: readonly TimelineLane[];
  readonly next?: number;
}

export function lanePage(selection: Selection): LanePage {
  const { question, since, end } = selection;
  const intervals =
    question.points === undefined ? undefined : intervalsOf(since, end, { points: question.points });
  const counted = sorted(count(selection), selection);
  const from = question.continue?.time ?? 0;
  const page = counted.slice(from, from + question.limit);
  return {
    start: intervals?.start ?? since,
    end,
    ...(intervals && { intervalMicros: intervals.width }),
    total: counted.length,
    items: page.map((each) => shown(each, selection, intervals)),
    ...(from + page.length < counted.length && { next: from + page.length }),
  };
}

/** The lanes of a tree, the root first. */
export function lanesFor(selection: Selection): TimelineLane[] {
  return sorted(count(selection), selection).map((each) => shown(each, selection, undefined));
}

function count({ index, lanes, counts, since, until }: Selection): Counted[] {
  const found: Counted[] = [];
  for (const lane of lanes ?? index.lanes()) {
    const { all } = lane.points;
    let at = lane.points.from(since);
    while (at < all.length && all[at]!.time < until && !counts(all[at]!)) at++;
    const first = all[at];
    if (!first || first.time >= until) continue;
    const byType: Record<string, number> = {};
    let last = first;
    for (; at < all.length && all[at]!.time < until; at++) {
      const point = all[at]!;
      if (!counts(point)) continue;
      const { type } = point.record.facet;
      byType[type] = (byType[type] ?? 0) + 1;
      last = point;
    }
    found.push({ lane, counts: byType, first: first.time, last: last.time });
  }
  return found;
}

function sorted(counted: Counted[], { question, graph, mayGet, kinds }: Selection): Counted[] {
  const byName = (a: Counted, b: Counted): number =>
    order(a.lane.namespace, b.lane.namespace) ||
    order(a.lane.kind, b.lane.kind) ||
    order(a.lane.name, b.lane.name) ||
    a.first - b.first;
  const orders: Record<Question["sort"], (a: Counted, b: Counted) => number> = {
    latest: (a, b) => b.last - a.last || byName(a, b),
    warnings: (a, b) => (b.counts["Warning"] ?? 0) - (a.counts["Warning"] ?? 0) || byName(a, b),
    owner: (a, b) => order(paths.get(a)!, paths.get(b)!) || byName(a, b),
  };
  const paths = new Map<Counted, string>();
  if (question.sort === "owner")
    for (const each of counted) {
      const { lane } = each;
      const served = kinds.find(lane.kind, lane.group);
      const owners = served && mayGet(served.groupResource) ? graph.chain(lane.uid) : [];
      const chain = [...owners].reverse().map(({ kind, name }) => `${kind}/${name}`);
      paths.set(each, [lane.namespace, ...chain, `${lane.kind}/${lane.name}`].join("\0"));
    }
  return counted.sort(orders[question.sort]);
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function shown(
  { lane, counts, first, last }: Counted,
  selection: Selection,
  intervals: Intervals | undefined,
): TimelineLane {
  const { kinds, graph, mayGet } = selection;
  const served = kinds.find(lane.kind, lane.group);
  const readable = served !== undefined && mayGet(served.groupResource);
  return {
    object: objectOf(lane, kinds),
    owners: readable ? graph.chain(lane.uid) : [],
    ...(readable && served.cached && { alive: isAlive(served, lane) }),
    counts,
    first: timeText(first),
    last: timeText(last),
    ...(intervals && { marks: marks(lane, selection, intervals) }),
  };
}

function marks({ points }: Lane, { counts, since, until }: Selection, { start, width }: Intervals): number[] {
  const found: number[] = [];
  const { all } = points;
  for (let at = points.from(since); at < all.length && all[at]!.time < until; at++) {
    const point = all[at]!;
    if (!counts(point)) continue;
    const interval = Math.floor((point.time - start) / width);
    if (found.at(-4) !== interval) found.push(interval, 0, 0, 0);
    found[found.length + placeOf(point)]!++;
  }
  return found;
}

const placeOf = ({ record: { from, facet } }: Point): number =>
  from === "object" ? -1 : facet.type === "Warning" ? -2 : -3;
