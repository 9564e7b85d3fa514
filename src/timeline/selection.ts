// What one question is about: its objects, its range, and which of the points in there count.
import { type Filter, facetsWanted } from "./filter.ts";
import type { Kinds } from "./kinds.ts";
import type { Lane } from "./lane.ts";
import type { OwnerGraph } from "./owner-graph.ts";
import type { Question } from "./parameters.ts";
import { type Point, type Points, joined } from "./points.ts";
import type { TimelineIndex } from "./timeline-index.ts";

export interface Selection {
  readonly index: TimelineIndex;
  readonly graph: OwnerGraph;
  readonly kinds: Kinds;
  readonly question: Question;
  /** The lanes asked for; undefined where all are. */
  readonly lanes: ReadonlySet<Lane> | undefined;
  /** Whether the changes of a resource may be shown. */
  readonly mayGet: (resource: string) => boolean;
  /** Microseconds: `since` belongs to the range, `until` does not. */
  readonly since: number;
  readonly until: number;
  /** Where charts end: at `until`, or now, or with what claims to be from the future. */
  readonly end: number;
  counts(point: Point): boolean;
}

export interface Asked {
  readonly index: TimelineIndex;
  readonly graph: OwnerGraph;
  readonly kinds: Kinds;
  readonly question: Question;
  readonly filter: Filter;
  readonly mayGet: (resource: string) => boolean;
  readonly nowMicros: number;
}

/** To be used at once: the index goes on changing. */
export function select({ index, graph, kinds, question, filter, mayGet, nowMicros }: Asked): Selection {
  const points = index.pointsIn(question.path);
  const wanted = facetsWanted(index.facets, filter);
  return {
    index,
    graph,
    kinds,
    question,
    mayGet,
    lanes: filter.namesObjects ? lanesOf(index, graph, question, filter) : undefined,
    since: question.since ?? points.first()?.time ?? 0,
    until: question.until ?? Infinity,
    end: question.until ?? Math.max(nowMicros, points.last()?.time ?? 0) + 1,
    counts: ({ removed, record }) => !removed && wanted[record.facet.id] === true,
  };
}

function lanesOf(
  index: TimelineIndex,
  graph: OwnerGraph,
  question: Question,
  filter: Filter,
): ReadonlySet<Lane> {
  const found = new Set<Lane>();
  for (const lane of index.lanes()) if (filter.object(lane)) found.add(lane);
  if (!question.tree) return found;
  for (const uid of graph.below(graph.roots(found, filter))) {
    const lane = index.lane(uid);
    if (lane) found.add(lane);
  }
  return found;
}

/** The points of a namespace or of all that lie in the range and belong to one of many lanes, in order. */
export function* pointsOf(
  { index, question, lanes, counts, since, until }: Selection,
  from?: { readonly time: number; readonly sequence: number },
): Generator<Point> {
  const source = sourceOf(index, question, lanes);
  const step = question.newestFirst ? -1 : 1;
  const all = source.points.all;
  const start = question.newestFirst
    ? (from ? source.points.from(from.time, from.sequence) : source.points.from(until)) - 1
    : from
      ? source.points.from(from.time, from.sequence + 0.5)
      : source.points.from(since);
  for (let at = start; at >= 0 && at < all.length; at += step) {
    const point = all[at]!;
    if (step > 0 ? point.time >= until : point.time < since) return;
    if (counts(point) && (!lanes || source.single || lanes.has(point.record.lane))) yield point;
  }
}

/** One lane has its own order; a few are joined; many are found among all points of the namespace. */
function sourceOf(
  index: TimelineIndex,
  { path }: Question,
  lanes: ReadonlySet<Lane> | undefined,
): { readonly points: Pick<Points, "all" | "from">; readonly single: boolean } {
  const whole = index.pointsIn(path);
  if (!lanes) return { points: whole, single: false };
  if (lanes.size === 1) return { points: [...lanes][0]!.points, single: true };
  let size = 0;
  for (const { points } of lanes) size += points.size;
  if (size * 8 > whole.size) return { points: whole, single: false };
  return { points: joined([...lanes].map(({ points }) => points)), single: true };
}
