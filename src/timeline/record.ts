// What the timeline keeps of an event or of an object's change: what filters and counts need. The rest is read
// from the encoded object when an entry is shown.
import type { CachedObject } from "#watchcache";
import type { Lane } from "./lane.ts";
import type { JournalRecord } from "./journal-record.ts";

/** A combination of the values that filters and charts use, shared by all records that have it. */
export interface Facet {
  /** Small: facets that are gone leave theirs to new ones. */
  readonly id: number;
  /** How many points have it. */
  points: number;
  readonly type: string;
  readonly reason: string;
  readonly controller: string;
  readonly group: string;
  readonly kind: string;
  /** Where the event is stored, or the object lives; empty for objects without a namespace. */
  readonly namespace: string;
  readonly node: string;
  /** Set for changes of objects: what one must be allowed to get, `deployments.apps`. */
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
