// One lane per object with points in the range: counts by type, owners, whether it is alive.
import { objectOf } from "./entry.ts";
import { type Intervals, intervalsOf } from "./intervals.ts";
import { isAlive } from "./kinds.ts";
import type { Lane } from "./lane.ts";
import type { Question } from "./parameters.ts";
import type { Facet } from "./record.ts";
import type { Selection } from "./selection.ts";
import { timeText } from "./stored-event.ts";
import type { TimelineLane } from "./wire.ts";

interface Counted {
  readonly lane: Lane;
  /** Types, and how many points each has. */
  readonly names: readonly string[];
  readonly tally: readonly number[];
  readonly first: number;
  readonly last: number;
}

interface MarkedIntervals extends Intervals {
  /** Where points of a facet are counted, by its id. */
  readonly places: readonly number[];
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
  const places = selection.index.facets.map(placeOf);
  const from = question.continue?.time ?? 0;
  const page = counted.slice(from, from + question.limit);
  return {
    start: intervals?.start ?? since,
    end,
    ...(intervals && { intervalMicros: intervals.width }),
    total: counted.length,
    items: page.map((each) => shown(each, selection, intervals && { ...intervals, places })),
    ...(from + page.length < counted.length && { next: from + page.length }),
  };
}

/** The lanes of a tree, the root first. */
export function lanesFor(selection: Selection): TimelineLane[] {
  return sorted(count(selection), selection).map((each) => shown(each, selection, undefined));
}

function count({ index, lanes, wanted, since, until }: Selection): Counted[] {
  const names = [...new Set(Array.from(index.facets.all(), ({ type }) => type))];
  const types = index.facets.map(({ type }) => names.indexOf(type));
  const found: Counted[] = [];
  for (const lane of lanes ?? index.lanes()) {
    const { times, facets } = lane.points;
    const end = lane.points.from(until);
    let first = -1;
    let last = -1;
    const tally = names.map(() => 0);
    for (let place = lane.points.from(since); place < end; place++) {
      const facet = facets[place]!;
      if (facet < 0 || !wanted[facet]) continue;
      if (first < 0) first = place;
      last = place;
      tally[types[facet]!]!++;
    }
    if (first >= 0) found.push({ lane, names, tally, first: times[first]!, last: times[last]! });
  }
  return found;
}

const countsOf = ({ names, tally }: Counted): Record<string, number> =>
  Object.fromEntries(names.map((name, at) => [name, tally[at]!] as const).filter(([, count]) => count > 0));

function sorted(counted: Counted[], { question, graph, mayGet, kinds }: Selection): Counted[] {
  const isReadable = ({ kind, group }: Lane): boolean => {
    const served = kinds.find(kind, group);
    return served !== undefined && mayGet(served.groupResource);
  };
  const byName = (a: Counted, b: Counted): number =>
    order(a.lane.namespace, b.lane.namespace) ||
    order(a.lane.kind, b.lane.kind) ||
    order(a.lane.name, b.lane.name) ||
    a.first - b.first;
  const orders: Record<Question["sort"], (a: Counted, b: Counted) => number> = {
    latest: (a, b) => b.last - a.last || byName(a, b),
    warnings: (a, b) => warnings(b) - warnings(a) || byName(a, b),
    owner: (a, b) => order(paths.get(a)!, paths.get(b)!) || byName(a, b),
  };
  const paths = new Map<Counted, string>();
  if (question.sort === "owner")
    for (const each of counted) {
      const { lane } = each;
      let path = `${lane.kind}/${lane.name}`;
      // Owners are part of the object: who may not get it is not told.
      for (const { kind, name } of graph.has(lane.uid) && isReadable(lane) ? graph.chain(lane.uid) : [])
        path = `${kind}/${name}\0${path}`;
      paths.set(each, `${lane.namespace}\0${path}`);
    }
  return counted.sort(orders[question.sort]);
}

const warnings = ({ names, tally }: Counted): number => tally[names.indexOf("Warning")] ?? 0;
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function shown(counted: Counted, selection: Selection, intervals: MarkedIntervals | undefined): TimelineLane {
  const { kinds, graph, mayGet } = selection;
  const { lane, first, last } = counted;
  const served = kinds.find(lane.kind, lane.group);
  const readable = served !== undefined && mayGet(served.groupResource);
  return {
    object: objectOf(lane, kinds),
    owners: readable ? graph.chain(lane.uid) : [],
    ...(readable && served.cached && { alive: isAlive(served, lane) }),
    counts: countsOf(counted),
    first: timeText(first),
    last: timeText(last),
    ...(intervals && { marks: marks(lane, selection, intervals) }),
  };
}

function marks(
  { points }: Lane,
  { wanted, since, until }: Selection,
  { start, width, places }: MarkedIntervals,
): number[] {
  const found: number[] = [];
  const { times, facets } = points;
  const end = points.from(until);
  for (let place = points.from(since); place < end; place++) {
    const facet = facets[place]!;
    if (facet < 0 || !wanted[facet]) continue;
    const interval = Math.floor((times[place]! - start) / width);
    if (found.at(-4) !== interval) found.push(interval, 0, 0, 0);
    found[found.length + places[facet]!]!++;
  }
  return found;
}

/** Where it is counted, from the end of an interval's four numbers. */
const placeOf = ({ resource, type }: Facet): number => (resource !== "" ? -1 : type === "Warning" ? -2 : -3);
