// What happened to objects themselves: their creation, changes and deletion, as far back as events reach.
import type { JournalRecord } from "./journal-record.ts";
import type { Owned } from "./owner-graph.ts";

export interface JournalFollower {
  added(record: JournalRecord): void;
  removed(record: JournalRecord): void;
  /** The owners of an object, now or as long as it lived. */
  owners(object: Owned): void;
  /** Nothing tells of an object any longer. */
  forgotten(uid: string): void;
}

export interface Journal {
  /** The newest record's number. */
  readonly sequence: number;
  /** Changes that were not kept, or went before their time. */
  readonly dropped: number;
  /** Microseconds: what happened before is not known. */
  readonly since: number;
  /** Takes in at once what has come so far. */
  settle(): void;
  /** What is known, and from then on what changes, until the signal. */
  follow(follower: JournalFollower, signal: AbortSignal): readonly JournalRecord[];
  /** Objects that live now and have owners; undefined for each that has none, so that others can run. */
  owned(): Iterable<Owned | undefined>;
  /** The records behind a number; undefined where some of them are gone. */
  after(sequence: number): readonly JournalRecord[] | undefined;
}
