// All points of all events and changes, by time, by namespace and by object. Every view reads from here, so that
// none of them looks at more than its own range.
import type { CachedObject } from "#watchcache";
import { Facets } from "./facets.ts";
import type { JournalRecord } from "./journal-record.ts";
import { type Lane, type ObjectName, laneKey, newLane } from "./lane.ts";
import { type Point, Points, inTimeOrder } from "./points.ts";
import type { TimelineRecord } from "./record.ts";
import { scanEvent } from "./scan-event.ts";

const nothing = new Points();

export class TimelineIndex {
  readonly points = new Points();
  readonly facets = new Facets();
  readonly #byNamespace = new Map<string, Points>();
  readonly #lanes = new Map<string, Lane>();
  /** The points of each event, by its key in the store. */
  readonly #events = new Map<string, readonly Point[]>();
  /** The points of each change, by its sequence number in the journal. */
  readonly #changes = new Map<number, readonly Point[]>();

  #laneVersion = 0;

  /** Another number whenever a lane has come or gone. */
  get laneVersion(): number {
    return this.#laneVersion;
  }

  lanes(): Iterable<Lane> {
    return this.#lanes.values();
  }

  lane(key: string): Lane | undefined {
    return this.#lanes.get(key);
  }

  /** Of one namespace, or with an empty name of all. */
  pointsIn(namespace: string): Points {
    return namespace === "" ? this.points : (this.#byNamespace.get(namespace) ?? nothing);
  }

  /** Adds an event, or replaces it by its new state. */
  addEvent(item: CachedObject): void {
    this.removeEvent(item.key);
    this.#add(this.#eventPoints(item));
  }

  removeEvent(key: string): void {
    this.#remove(this.#events.get(key));
    this.#events.delete(key);
  }

  addChange(change: JournalRecord): void {
    this.#add(this.#changePoints(change));
  }

  removeChange(sequence: number): void {
    this.#remove(this.#changes.get(sequence));
    this.#changes.delete(sequence);
  }

  /** Many at once, in any order; none of them may be there yet. */
  *load(items: Iterable<CachedObject>, changes: Iterable<JournalRecord>): Generator<void> {
    const points: Point[] = [];
    for (const item of items) {
      points.push(...this.#eventPoints(item));
      yield;
    }
    for (const change of changes) points.push(...this.#changePoints(change));
    yield;
    points.sort(inTimeOrder);
    for (const point of points) {
      this.#add([point]);
      yield;
    }
  }

  #eventPoints(item: CachedObject): readonly Point[] {
    const { object, facet, first, last } = scanEvent(item);
    const record: TimelineRecord = {
      from: "event",
      item,
      lane: this.#laneOf(object),
      facet: this.facets.of(facet),
      first,
      last,
    };
    const points = pointsOf(record, item.revision * 2);
    this.#events.set(item.key, points);
    return points;
  }

  #changePoints(change: JournalRecord): readonly Point[] {
    const { type, group, kind, namespace, name, time, resource } = change;
    const record: TimelineRecord = {
      from: "object",
      change,
      lane: this.#laneOf(change),
      facet: this.facets.of({
        type,
        reason: type,
        controller: change.managers?.[0] ?? "",
        group,
        kind,
        namespace,
        node: kind === "Node" ? name : "",
        resource: group === "" ? resource : `${resource}.${group}`,
      }),
      first: time,
      last: time,
    };
    const points = pointsOf(record, change.revision * 2 + 1);
    this.#changes.set(change.sequence, points);
    return points;
  }

  #add(points: readonly Point[]): void {
    for (const point of points) {
      const { lane, facet } = point.record;
      facet.points++;
      this.points.add(point);
      this.#byNamespace.getOrInsertComputed(facet.namespace, () => new Points()).add(point);
      lane.points.add(point);
    }
  }

  #remove(points: readonly Point[] = []): void {
    for (const point of points) {
      const { lane, facet } = point.record;
      this.points.remove(point);
      const own = this.#byNamespace.get(facet.namespace);
      own?.remove(point);
      if (own?.size === 0) this.#byNamespace.delete(facet.namespace);
      lane.points.remove(point);
      if (lane.points.size === 0 && this.#lanes.delete(laneKey(lane))) this.#laneVersion++;
      this.facets.release(facet);
    }
  }

  #laneOf(object: ObjectName): Lane {
    const { group, kind, namespace, name, uid } = object;
    return this.#lanes.getOrInsertComputed(laneKey(object), () => {
      this.#laneVersion++;
      return newLane({ group, kind, namespace, name, uid });
    });
  }
}

function pointsOf(record: TimelineRecord, sequence: number): readonly Point[] {
  const { first, last } = record;
  const one: Point = { time: first, sequence, edge: "first", record };
  return last > first ? [one, { time: last, sequence, edge: "last", record }] : [one];
}
