// The objects, the range and the matching points of one query.
import { type Filter, facetsWanted } from "./filter.ts";
import type { Kinds } from "./kinds.ts";
import type { Lane } from "./lane.ts";
import type { OwnerGraph } from "./owner-graph.ts";
import type { Place, TimelineParameters } from "./parameters.ts";
import type { Point } from "./point-table.ts";
import type { PointList } from "./points.ts";
import type { TimelineIndex } from "./timeline-index.ts";

export interface Selection {
  readonly index: TimelineIndex;
  readonly graph: OwnerGraph;
  readonly kinds: Kinds;
  readonly parameters: TimelineParameters;
  /** The selected lanes; undefined selects all. */
  readonly lanes: ReadonlySet<Lane> | undefined;
  /** Reports whether the changes of a resource may be shown. */
  readonly mayGet: (resource: string) => boolean;
  /** The range in microseconds; `since` is inclusive, `until` exclusive. */
  readonly since: number;
  readonly until: number;
  /** The end of charts: `until`, or else now or the last point, if that is in the future. */
  readonly end: number;
  /** Whether points of a facet match, by facet id. */
  readonly wanted: readonly boolean[];
}

export interface SelectOptions {
  readonly index: TimelineIndex;
  readonly graph: OwnerGraph;
  readonly kinds: Kinds;
  readonly parameters: TimelineParameters;
  readonly filter: Filter;
  readonly mayGet: (resource: string) => boolean;
  readonly nowMicros: number;
}

/** Evaluates a query. The result must be used immediately, since the index keeps changing. */
export function select({
  index,
  graph,
  kinds,
  parameters,
  filter,
  mayGet,
  nowMicros,
}: SelectOptions): Selection {
  const points = index.pointsIn(parameters.path);
  const wanted = facetsWanted(index.facets, filter);
  return {
    index,
    graph,
    kinds,
    parameters,
    mayGet,
    lanes: filter.namesObjects ? lanesOf(index, graph, parameters, filter) : undefined,
    since: parameters.since ?? points.first()?.time ?? 0,
    until: parameters.until ?? Infinity,
    end: parameters.until ?? Math.max(nowMicros, points.last()?.time ?? 0) + 1,
    wanted,
  };
}

function lanesOf(
  index: TimelineIndex,
  graph: OwnerGraph,
  parameters: TimelineParameters,
  filter: Filter,
): ReadonlySet<Lane> {
  const found = new Set<Lane>();
  for (const lane of index.lanes()) if (filter.object(lane)) found.add(lane);
  if (!parameters.tree) return found;
  for (const key of graph.below(graph.roots(found, filter))) {
    const lane = index.lane(key);
    if (lane) found.add(lane);
  }
  return found;
}

/** Visits the points in the range in the requested order until `visit` returns true. */
export function visitPoints(
  { index, parameters, lanes, wanted, since, until }: Selection,
  visit: (point: Point) => boolean | void,
  from?: Place,
): void {
  const { points, single } = sourceOf(index, parameters, lanes);
  const { length } = points;
  const step = parameters.newestFirst ? -1 : 1;
  const start = parameters.newestFirst
    ? (from ? points.from(from.time, from.sequence) : points.from(until)) - 1
    : from
      ? points.from(from.time, from.sequence + 0.5)
      : points.from(since);
  for (let place = start; place >= 0 && place < length; place += step) {
    const time = points.timeAt(place);
    if (step > 0 ? time >= until : time < since) return;
    const facet = points.facetAt(place);
    if (facet < 0 || !wanted[facet]) continue;
    const point = points.at(place);
    if (!lanes || single || lanes.has(point.record.lane)) if (visit(point) === true) return;
  }
}

/** Visits time and facet of the points in the range, oldest first, without creating Point objects. */
export function visitTimes(selection: Selection, visit: (time: number, facet: number) => void): void {
  const { index, parameters, lanes, wanted, since, until } = selection;
  const { points, single } = sourceOf(index, parameters, lanes);
  if (lanes && !single) return visitPoints(selection, ({ time, record }) => visit(time, record.facet.id));
  const end = points.from(until);
  for (let place = points.from(since); place < end; place++) {
    const facet = points.facetAt(place);
    if (facet >= 0 && wanted[facet]) visit(points.timeAt(place), facet);
  }
}

/**
 * A single lane has its own order, a few are merged, and many are searched among all points of the namespace.
 */
function sourceOf(
  index: TimelineIndex,
  { path }: TimelineParameters,
  lanes: ReadonlySet<Lane> | undefined,
): { readonly points: PointList; readonly single: boolean } {
  const whole = index.pointsIn(path);
  if (!lanes) return { points: whole, single: false };
  if (lanes.size === 1) return { points: [...lanes][0]!.points, single: true };
  let size = 0;
  for (const { points } of lanes) size += points.size;
  if (size * 8 > whole.size) return { points: whole, single: false };
  return { points: index.pointsOf(lanes), single: true };
}
