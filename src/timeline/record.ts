// The part of an event or object change that filters and counts need. The rest is read from the encoded
// object when an entry is shown.
import type { CachedObject } from "#watchcache";
import type { Lane } from "./lane.ts";
import type { JournalRecord } from "./journal-record.ts";

/** A combination of the values used by filters and charts, shared by all records that have it. */
export interface Facet {
  /** A small number: the ids of dropped facets are reused. */
  readonly id: number;
  /** The number of points with this facet. */
  points: number;
  readonly type: string;
  readonly reason: string;
  readonly controller: string;
  readonly group: string;
  readonly kind: string;
  /** The namespace of the event or the object; empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly node: string;
  /**
   * Set for changes of objects: the resource that the user must be allowed to get, such as
   * `deployments.apps`.
   */
  readonly resource: string;
}

interface RecordBase {
  readonly facet: Facet;
  readonly lane: Lane;
}

export interface EventRecord extends RecordBase {
  readonly from: "event";
  readonly item: CachedObject;
}

export interface ChangeRecord extends RecordBase {
  readonly from: "object";
  readonly change: JournalRecord;
}

export type TimelineRecord = EventRecord | ChangeRecord;
