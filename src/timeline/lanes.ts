// One lane per object with points in the range: counts by type, owners, and whether it is alive.
import { objectOf } from "./entry.ts";
import { type Intervals, intervalsOf } from "./intervals.ts";
import { isAlive } from "./kinds.ts";
import type { Lane } from "./lane.ts";
import { type Reader, lanesByOwner, order, ownerPath } from "./lane-order.ts";
import type { TimelineParameters } from "./parameters.ts";
import type { Facet } from "./record.ts";
import type { Selection } from "./selection.ts";
import { timeText } from "./stored-event.ts";
import type { TimelineLane } from "./wire.ts";

interface Counted {
  readonly lane: Lane;
  /** The types, with the number of points of each in `tally`. */
  readonly names: readonly string[];
  readonly counts: readonly number[];
  readonly first: number;
  readonly last: number;
}

interface MarkedIntervals extends Intervals {
  /** The offset at which points of a facet are counted, by facet id. */
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
  const { parameters, since, end } = selection;
  const intervals =
    parameters.points === undefined ? undefined : intervalsOf(since, end, { points: parameters.points });
  const places = selection.index.facets.map(placeOf);
  const from = parameters.continue?.time ?? 0;
  // In owner order only the lanes of the page need counts; any other order requires the counts of all.
  const found =
    parameters.sort === "owner" && !selection.lanes
      ? lanesInRange(selection)
      : sorted(count(selection, lanesToCount(selection)), selection).map(({ lane }) => lane);
  const page = count(selection, found.slice(from, from + parameters.limit));
  return {
    start: intervals?.start ?? since,
    end,
    ...(intervals && { intervalMicros: intervals.width }),
    total: found.length,
    items: page.map((each) => shown(each, selection, intervals && { ...intervals, places })),
    ...(from + page.length < found.length && { next: from + page.length }),
  };
}

/** Returns the lanes of a tree, the root first. */
export function lanesFor(selection: Selection): TimelineLane[] {
  return sorted(count(selection, lanesToCount(selection)), selection).map((each) =>
    shown(each, selection, undefined),
  );
}

/** Returns all lanes with matching points in the range, sorted by owner. */
function lanesInRange(selection: Selection): Lane[] {
  const { wanted, since, until } = selection;
  const isInRange = ({ points }: Lane): boolean => {
    for (let place = points.from(since); place < points.length; place++) {
      if (points.timeAt(place) >= until) return false;
      if (wanted[points.facetAt(place)]) return true;
    }
    return false;
  };
  const found: Lane[] = [];
  for (const lane of lanesToCount(selection)) if (isInRange(lane)) found.push(lane);
  return found;
}

function count({ index, wanted, since, until }: Selection, lanes: Iterable<Lane>): Counted[] {
  const names = [...new Set(Array.from(index.facets.all(), ({ type }) => type))];
  const types = index.facets.map(({ type }) => names.indexOf(type));
  const found: Counted[] = [];
  for (const lane of lanes) {
    const { points } = lane;
    const end = points.from(until);
    let first = -1;
    let last = -1;
    const counts = names.map(() => 0);
    for (let place = points.from(since); place < end; place++) {
      const facet = points.facetAt(place);
      if (facet < 0 || !wanted[facet]) continue;
      if (first < 0) first = place;
      last = place;
      counts[types[facet]!]!++;
    }
    if (first >= 0)
      found.push({ lane, names, counts, first: points.timeAt(first), last: points.timeAt(last) });
  }
  return found;
}

/** Returns all candidate lanes, sorted by owner if requested. */
function lanesToCount(selection: Selection): Iterable<Lane> {
  const { index, graph, lanes, parameters } = selection;
  if (lanes) return lanes;
  if (parameters.sort !== "owner") return index.lanes();
  return lanesByOwner(index, graph, readerOf(selection)).map(({ lane }) => lane);
}

function readerOf({ index, mayGet, kinds }: Selection): Reader {
  const isReadable = ({ kind, group }: Pick<Lane, "kind" | "group">): boolean => {
    const served = kinds.find(kind, group);
    return served !== undefined && mayGet(served.groupResource);
  };
  const hidden = new Set<string>();
  for (const facet of index.facets.all()) if (!isReadable(facet)) hidden.add(`${facet.kind}.${facet.group}`);
  return { rights: [...hidden].sort().join(), mayGet: isReadable };
}

const countsOf = ({ names, counts }: Counted): Record<string, number> =>
  Object.fromEntries(names.map((name, at) => [name, counts[at]!] as const).filter(([, count]) => count > 0));

function sorted(counted: Counted[], selection: Selection): Counted[] {
  const { parameters, graph, lanes } = selection;
  if (parameters.sort === "owner" && !lanes) return counted;
  const byName = (a: Counted, b: Counted): number =>
    order(a.lane.namespace, b.lane.namespace) ||
    order(a.lane.kind, b.lane.kind) ||
    order(a.lane.name, b.lane.name) ||
    a.first - b.first;
  const orders: Record<TimelineParameters["sort"], (a: Counted, b: Counted) => number> = {
    latest: (a, b) => b.last - a.last || byName(a, b),
    warnings: (a, b) => warnings(b) - warnings(a) || byName(a, b),
    owner: (a, b) => order(paths.get(a)!, paths.get(b)!) || byName(a, b),
  };
  const paths = new Map<Counted, string>();
  if (parameters.sort === "owner") {
    const reader = readerOf(selection);
    for (const each of counted) paths.set(each, ownerPath(each.lane, graph, reader));
  }
  return counted.sort(orders[parameters.sort]);
}

const warnings = ({ names, counts }: Counted): number => counts[names.indexOf("Warning")] ?? 0;

function shown(counted: Counted, selection: Selection, intervals: MarkedIntervals | undefined): TimelineLane {
  const { kinds, graph, mayGet } = selection;
  const { lane, first, last } = counted;
  const served = kinds.find(lane.kind, lane.group);
  const readable = served !== undefined && mayGet(served.groupResource);
  return {
    object: objectOf(lane, kinds),
    owners: readable ? graph.chain(lane) : [],
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
  const end = points.from(until);
  for (let place = points.from(since); place < end; place++) {
    const facet = points.facetAt(place);
    if (facet < 0 || !wanted[facet]) continue;
    const interval = Math.floor((points.timeAt(place) - start) / width);
    if (found.at(-4) !== interval) found.push(interval, 0, 0, 0);
    found[found.length + places[facet]!]!++;
  }
  return found;
}

/** Returns the offset of the facet's count from the end of an interval's four numbers. */
const placeOf = ({ resource, type }: Facet): number => (resource !== "" ? -1 : type === "Warning" ? -2 : -3);
