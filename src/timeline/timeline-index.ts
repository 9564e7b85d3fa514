// All points of events and changes, by time, by namespace and by object. Every view reads from here, so that
// it scans only its own range.
import type { Revision } from "#store";
import type { CachedObject } from "#watchcache";
import type { EventRows } from "./event-rows.ts";
import { Facets } from "./facets.ts";
import type { JournalRecord } from "./journal-record.ts";
import { type Lane, type ObjectName, isNode, isNodeByName, laneKey, newLane } from "./lane.ts";
import { LanePoints } from "./lane-points.ts";
import { PointTable, firstOccurrence, lastOccurrence, objectChange, sortedBy } from "./point-table.ts";
import { Points, joined } from "./points.ts";
import type { Facet } from "./record.ts";
import { RevisionNumbers } from "./revision-numbers.ts";
import { scanEvent } from "./scan-event.ts";

/** The lane and the facet of a point. */
interface Belonging {
  readonly lane: Lane;
  readonly facet: Facet;
}

/** The occurrences of one event; `last` equals `first` if there was only one. */
interface Occurrences extends Belonging {
  readonly first: number;
  readonly last: number;
}

/** Number of steps between two yields to the event loop. */
const loadedAtOnce = 64;

export class TimelineIndex {
  readonly #table = new PointTable();
  readonly #none = new Points(this.#table);
  readonly points = new Points(this.#table);
  readonly facets = new Facets();
  readonly #byNamespace = new Map<string, Points>();
  readonly #lanes = new Map<string, Lane>();
  /** The newest lane of each node by name. */
  readonly #nodes = new Map<string, Lane>();
  readonly #events = new RevisionNumbers();
  /** The point number of each change, by its sequence number in the journal. */
  readonly #changes = new Map<number, number>();

  #laneVersion = 0;

  /** Changes whenever a lane is added or removed. */
  get laneVersion(): number {
    return this.#laneVersion;
  }

  lanes(): Iterable<Lane> {
    return this.#lanes.values();
  }

  lane(key: string): Lane | undefined {
    return this.#lanes.get(key);
  }

  /** Returns the points of one namespace; an empty name selects all. */
  pointsIn(namespace: string): Points {
    return namespace === "" ? this.points : (this.#byNamespace.get(namespace) ?? this.#none);
  }

  /** Returns the points of several lanes in one list. */
  pointsOf(lanes: Iterable<Lane>): Points {
    return joined(
      this.#table,
      Array.from(lanes, ({ points }) => points),
    );
  }

  addEvent(item: CachedObject): void {
    const numbers: number[] = [];
    this.#eventNumbers(item, this.#scanned(item), numbers);
    for (const number of numbers) this.#add(number);
  }

  /** Removes the event that was written at a revision. */
  removeEvent(revision: Revision): void {
    for (const number of this.#events.take(revision)) this.#remove(number);
  }

  addChange(change: JournalRecord): void {
    this.#add(this.#changeNumber(change));
  }

  removeChange(sequence: number): void {
    const number = this.#changes.get(sequence);
    if (number === undefined) return;
    this.#remove(number);
    this.#changes.delete(sequence);
  }

  /**
   * Loads many events and changes, in any order; none may have been added before. Events contained in `rows`
   * are not read.
   */
  *load(
    items: readonly CachedObject[],
    rows: readonly EventRows[],
    changes: Iterable<JournalRecord>,
  ): Generator<void> {
    const all: number[] = [];
    const known = this.#resolved(rows);
    const places = Uint32Array.from(items.keys());
    const waiting = [...changes].sort((a, b) => b.revision - a.revision);
    for (const at of sortedBy(places, (place) => items[place]!.revision)) {
      const item = items[at]!;
      // In order of revision, so that only the order by time remains to be computed.
      while ((waiting.at(-1)?.revision ?? Infinity) < item.revision)
        all.push(this.#changeNumber(waiting.pop()!));
      const row = known(item.revision);
      this.#eventNumbers(item, row ?? this.#scanned(item), all);
      if (!row || at % loadedAtOnce === 0) yield;
    }
    while (waiting.length > 0) all.push(this.#changeNumber(waiting.pop()!));
    yield;
    const ordered = this.#table.inTimeOrder(all);
    yield;
    this.points.reserve(ordered.length);
    for (let at = 0; at < ordered.length; at++) {
      const number = ordered[at]!;
      this.#table.facet(number).points++;
      this.points.append(number);
      this.#inNamespace(number).append(number);
      this.#table.lane(number).points.append(number);
      if (at % loadedAtOnce === 0) yield;
    }
  }

  /**
   * Returns a function that looks up the occurrences of a revision in the rows; it must be called in order of
   * revision.
   */
  #resolved(pieces: readonly EventRows[]): (revision: Revision) => Occurrences | undefined {
    let [at, row] = [0, 0];
    let lanes: Lane[] = [];
    let facets: Facet[] = [];
    return (revision) => {
      while (at < pieces.length && pieces[at]!.lastRevision < revision) {
        at++;
        row = 0;
        [lanes, facets] = [[], []];
      }
      const rows = pieces[at];
      if (!rows) return undefined;
      while (rows.revisions[row]! < revision) row++;
      if (rows.revisions[row] !== revision) return undefined;
      const [object, facet] = [rows.objectAt[row]!, rows.facetAt[row]!];
      return {
        lane: (lanes[object] ??= this.#laneOf(rows.objects[object]!)),
        facet: (facets[facet] ??= this.facets.of(rows.facets[facet]!)),
        first: rows.first[row]!,
        last: rows.last[row]!,
      };
    };
  }

  #scanned(item: CachedObject): Occurrences {
    const { object, facet, first, last } = scanEvent(item);
    return { lane: this.#laneOf(object), facet: this.facets.of(facet), first, last };
  }

  #eventNumbers(item: CachedObject, found: Occurrences, numbers: number[]): void {
    const { first, last } = found;
    const one = this.#table.add(first, firstOccurrence, item, found);
    this.#events.add(item.revision, one);
    numbers.push(one);
    if (last <= first) return;
    const two = this.#table.add(last, lastOccurrence, item, found);
    this.#events.add(item.revision, two);
    numbers.push(two);
  }

  #changeNumber(change: JournalRecord): number {
    const { type, group, kind, namespace, name, time, resource } = change;
    const number = this.#table.add(time, objectChange, change, {
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
    });
    this.#changes.set(change.sequence, number);
    return number;
  }

  #add(number: number): void {
    this.#table.facet(number).points++;
    this.points.add(number);
    this.#inNamespace(number).add(number);
    this.#table.lane(number).points.add(number);
  }

  #inNamespace(number: number): Points {
    const { namespace } = this.#table.facet(number);
    let own = this.#byNamespace.get(namespace);
    if (!own) this.#byNamespace.set(namespace, (own = new Points(this.#table)));
    return own;
  }

  #remove(number: number): void {
    const [lane, facet] = [this.#table.lane(number), this.#table.facet(number)];
    this.points.remove(number);
    const own = this.#byNamespace.get(facet.namespace);
    own?.remove(number);
    if (own?.size === 0) this.#byNamespace.delete(facet.namespace);
    lane.points.remove(number);
    if (lane.points.size === 0 && this.#lanes.delete(laneKey(lane))) {
      this.#laneVersion++;
      if (this.#nodes.get(lane.name) === lane) this.#nodes.delete(lane.name);
    }
    this.facets.release(facet);
    this.#table.delete(number);
  }

  #laneOf(object: ObjectName): Lane {
    return (
      this.#laneOfNode(object) ??
      this.#lanes.get(laneKey(object)) ??
      this.#addLane(object, new LanePoints(this.#table))
    );
  }

  /**
   * Events of a node's own agent belong to the lane of the node, although they do not have its uid: to one that
   * exists, or to the one that the first record with the uid makes of their own.
   */
  #laneOfNode(object: ObjectName): Lane | undefined {
    const newest = isNode(object) ? this.#nodes.get(object.name) : undefined;
    if (!newest || isNodeByName(object)) return newest;
    if (!isNodeByName(newest)) return undefined;
    this.#lanes.delete(laneKey(newest));
    newest.uid = object.uid;
    this.#lanes.set(laneKey(newest), newest);
    this.#laneVersion++;
    return newest;
  }

  #addLane({ group, kind, namespace, name, uid }: ObjectName, points: LanePoints): Lane {
    const lane = newLane({ group, kind, namespace, name, uid }, points);
    this.#laneVersion++;
    this.#lanes.set(laneKey(lane), lane);
    if (isNode(lane)) this.#nodes.set(lane.name, lane);
    return lane;
  }
}
