// Sorts all lanes by their owners. The last order is cached: unchanged lanes are not computed again, and
// sorting a nearly sorted list costs hardly more than a scan.
import type { Lane } from "./lane.ts";
import type { OwnerGraph } from "./owner-graph.ts";
import type { TimelineIndex } from "./timeline-index.ts";

interface Placed {
  readonly lane: Lane;
  readonly key: string;
}

interface Order {
  readonly lanes: number;
  readonly owners: number;
  readonly placed: readonly Placed[];
}

/** The number of permission sets for which orders are cached. */
const maxOrders = 4;

const orders = new WeakMap<TimelineIndex, Map<string, Order>>();

export interface Reader {
  /** The kinds the reader may get, as one string: owners are part of an object. */
  readonly rights: string;
  readonly mayGet: (lane: Lane) => boolean;
}

export function lanesByOwner(index: TimelineIndex, graph: OwnerGraph, reader: Reader): readonly Placed[] {
  const known = orders.getOrInsertComputed(index, () => new Map<string, Order>());
  const last = known.get(reader.rights);
  const current = { lanes: index.laneVersion, owners: graph.version };
  if (last?.lanes === current.lanes && last.owners === current.owners) return last.placed;
  const keys = new Map<Lane, string>();
  if (last?.owners === current.owners) for (const { lane, key } of last.placed) keys.set(lane, key);
  const place = (lane: Lane): Placed => ({ lane, key: keys.get(lane) ?? ownerPath(lane, graph, reader) });
  const living = new Set(index.lanes());
  const placed: Placed[] = [];
  for (const { lane } of last?.placed ?? []) if (living.delete(lane)) placed.push(place(lane));
  for (const lane of living) placed.push(place(lane));
  placed.sort((a, b) => order(a.key, b.key) || firstTime(a.lane) - firstTime(b.lane));
  known.delete(reader.rights);
  const [oldest] = known.keys();
  if (known.size >= maxOrders && oldest !== undefined) known.delete(oldest);
  known.set(reader.rights, { ...current, placed });
  return placed;
}

/** Returns the sort key of a lane: namespace, owners from the top down, and the object itself. */
export function ownerPath(lane: Lane, graph: OwnerGraph, { mayGet }: Pick<Reader, "mayGet">): string {
  let path = `${lane.kind}/${lane.name}`;
  // A user who may not get an object must not learn its owners.
  if (graph.has(lane.uid) && mayGet(lane))
    for (const { kind, name } of graph.chain(lane)) path = `${kind}/${name}\0${path}`;
  return `${lane.namespace}\0${path}`;
}

const firstTime = ({ points }: Lane): number => (points.length > 0 ? points.timeAt(0) : 0);

export const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
