// Versioned bytes under keys. Every change gets the next revision; a lost race is a returned value, not an
// exception.
//
//   revision   1        2        3        4
//   change     put a    put b    put a'   delete b
//   read at 2: a, b     read at 4: a'     compact(3): reads below 3 are gone, watches resume after 3 or later

/** A position in the one history of the store. Zero means "before everything". */
export type Revision = number;

/** A key with its value, as it was written at `revision`. */
export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** The revision of the write that made this value. */
  readonly revision: Revision;
  /** The revision at which the key came to be (again, after a deletion). */
  readonly created: Revision;
  /** Why there is a value that nobody can read, for those who asked to have such entries marked. */
  readonly unreadable?: Error;
}

/** One key, or all keys with a prefix in key order: `after` continues behind a key, `limit` ends early. */
export type Range =
  | { readonly key: string }
  | {
      readonly prefix: string;
      readonly after?: string;
      readonly limit?: number;
      /** Values that cannot be decrypted are marked, where otherwise they fail the read or end the watch. */
      readonly unreadable?: "mark";
    };

export interface Write {
  readonly key: string;
  /**
   * The new value; null deletes. The bytes are handed over: nobody may change them afterwards, and watchers
   * may get the very same.
   */
  readonly value: Uint8Array | null;
  /** What must hold for the write to happen: the key's current revision, its absence, or nothing. */
  readonly expect: Revision | "absent" | "any";
  /** The key expires this long after the write. */
  readonly ttlSeconds?: number;
  /**
   * Reservations that must still be there, each at its revision, and are deleted by this write: all of it
   * happens, or nothing.
   */
  readonly consumes?: readonly Reservation[];
}

/** A key written earlier to reserve something, an address say, for the write that consumes it. */
export interface Reservation {
  readonly key: string;
  readonly revision: Revision;
}

/**
 * Deleting an absent key with expect "any" is done, without a revision of its own.
 * A write that is refused though its key is as expected has lost a reservation.
 */
export type Outcome =
  | { readonly done: true; readonly revision: Revision }
  | { readonly done: false; readonly current?: Entry };

/** One change as a watcher sees it. A deletion has a null value and the revision of the deletion. */
export interface Change {
  readonly key: string;
  readonly revision: Revision;
  readonly value: Uint8Array | null;
  readonly created: Revision;
  /** What was there before; absent when the key is new, and where values that cannot be read are marked. */
  readonly previous?: Entry;
  /** As for an entry. */
  readonly unreadable?: Error;
}

/**
 * Changes in order. Everything up to and including `through` has been delivered; an empty batch is a progress
 * mark.
 */
export interface Batch {
  readonly changes: readonly Change[];
  readonly through: Revision;
}

export interface Page {
  /** The revision this page shows: `at` when given, else the newest. */
  readonly revision: Revision;
  readonly entries: readonly Entry[];
  /** How many keys of the range lie behind the last entry. */
  readonly remaining: number;
}

export interface StoreStatus {
  readonly revision: Revision;
  readonly compacted: Revision;
  readonly keys: number;
  readonly bytes: number;
}

/** Keys below a prefix in key order, and at which revision each was written. */
export interface Versions {
  readonly keys: readonly string[];
  readonly revisions: readonly Revision[];
}

/** Is told of memory in which values have been read. */
export type Lend = (memory: Uint8Array) => void;

/**
 * What a store can tell without being waited for, because its keys are in memory and its values on a disk of this
 * machine: whoever has very many objects need not hold them.
 */
export interface LocalValues {
  versions(prefix: string, at: Revision): Versions;
  /** The value written at a revision; undefined when it is no longer kept. */
  value(revision: Revision): Uint8Array | undefined;
  /**
   * Some values at once, which is much cheaper than one by one; those no longer kept are missing. Memory that nobody
   * else reads is lent: whoever asks to be told of it may free it once it is done with the values.
   */
  values(revisions: readonly Revision[], lend?: Lend): ReadonlyMap<Revision, Uint8Array>;
  readonly derived: DerivedData;
}

/**
 * Data that was computed from stored values, in numbered pieces under a name. It has no revisions, and whoever
 * finds it missing computes it again.
 */
export interface DerivedData {
  read(name: string): readonly { readonly piece: number; readonly bytes: Uint8Array }[];
  /** Replaces a piece; null removes it. */
  write(name: string, piece: number, bytes: Uint8Array | null): Promise<void>;
}

export interface Store {
  /** Reads the newest state, or the state at an uncompacted revision. Throws Compacted or FutureRevision. */
  read(range: Range, at?: Revision): Promise<Page>;
  /** Resolves only once the change is durable. Writes that were refused or never happened leave no trace. */
  write(write: Write): Promise<Outcome>;
  /**
   * Every change behind `after`, once and in order, until aborted (then it simply ends). Throws Compacted.
   */
  watch(range: Range, after: Revision, signal: AbortSignal): AsyncIterable<Batch>;
  /** Whether a value should be written again as it is: it was encrypted by a key that is on its way out. */
  isStale?(key: string): Promise<boolean>;
  /** Set where values can be read at once; undefined for a prefix whose values are encrypted. */
  local?(prefix: string): LocalValues | undefined;
  /** Set where the store is of this machine. It is kept in the clear, also where values are encrypted. */
  readonly derived?: DerivedData;
  /** The newest revision, confirmed with the store; open watches then get a mark at or beyond it soon. */
  progress(): Promise<Revision>;
  /** Forgets history before `through`; live values stay. Compacting backwards is ignored. */
  compact(through: Revision): Promise<void>;
  status(): Promise<StoreStatus>;
  close(): Promise<void>;
}

/** The history asked for has been compacted away. */
export class Compacted extends Error {
  override readonly name = "Compacted";
  readonly compacted: Revision;
  constructor(compacted: Revision) {
    super(`the requested revision has been compacted; the oldest kept is ${compacted}`);
    this.compacted = compacted;
  }
}

/** The revision asked for has not happened yet. */
export class FutureRevision extends Error {
  override readonly name = "FutureRevision";
  readonly current: Revision;
  constructor(asked: Revision, current: Revision) {
    super(`revision ${asked} is in the future; the newest is ${current}`);
    this.current = current;
  }
}
