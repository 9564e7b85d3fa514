// The history of objects themselves: their creation, changes and deletion, as far back as events are kept.
import type { JournalRecord } from "./journal-record.ts";
import type { OwnedObject } from "./owner-graph.ts";

export interface JournalFollower {
  added(record: JournalRecord): void;
  removed(record: JournalRecord): void;
  /**
   * Called with the owners of an object, which stay valid while it lives and while the journal has records of
   * it.
   */
  owners(object: OwnedObject): void;
  /** Called when no record of the object is left. */
  forgotten(uid: string): void;
}

export interface Journal {
  /** The sequence number of the newest record. */
  readonly sequence: number;
  /** The number of changes that were not recorded, or were dropped before they expired. */
  readonly dropped: number;
  /** Microseconds; earlier changes are unknown. */
  readonly since: number;
  /** Immediately records the changes received so far. */
  settle(): void;
  /**
   * Returns the current records, each of which is parsed when it is reached, and reports changes to the follower
   * until the signal aborts.
   */
  follow(follower: JournalFollower, signal: AbortSignal): Iterable<JournalRecord>;
  /**
   * Yields live objects with owners; yields undefined for each object without, so that the caller can
   * interleave other work.
   */
  owned(): Iterable<OwnedObject | undefined>;
  /** Returns the records after a sequence number, or undefined if some of them have been dropped. */
  after(sequence: number): Iterable<JournalRecord> | undefined;
}
