// The Store interface: versioned byte values under keys. Every change gets the next revision. A write whose
// precondition fails returns an outcome instead of throwing.
//
//   revision   1        2        3        4
//   change     put a    put b    put a'   delete b
//   read at 2: a, b     read at 4: a'     compact(3): reads below 3 fail, watches resume after 3 or later

/** A position in the history of the store. Zero means "before everything". */
export type Revision = number;

/** A key with its value, as it was written at `revision`. */
export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** The revision of the write that set this value. */
  readonly revision: Revision;
  /** The revision at which the key was created (again, after a deletion). */
  readonly created: Revision;
  /** Why the value cannot be read; set only if the request marks unreadable values. */
  readonly unreadable?: Error;
}

/**
 * A single key, or all keys with a prefix in key order; `after` starts after a key, `limit` truncates the
 * result.
 */
export type Range =
  | { readonly key: string }
  | {
      readonly prefix: string;
      readonly after?: string;
      readonly limit?: number;
      /** Marks values that cannot be decrypted; without it they fail the read or end the watch. */
      readonly unreadable?: "mark";
    };

export interface Write {
  readonly key: string;
  /**
   * The new value; null deletes the key. The store takes ownership of the bytes: the caller must not modify
   * them afterwards, and watchers may receive the same buffer.
   */
  readonly value: Uint8Array | null;
  /** Encodes the value, if it is not stored as it is. */
  readonly encoder?: ValueEncoder;
  /** The precondition of the write: the key's current revision, its absence, or none. */
  readonly expect: Revision | "absent" | "any";
  /** The key expires this long after the write. */
  readonly ttlSeconds?: number;
  /**
   * Reservations that must still exist at their revisions and are deleted by this write, atomically with it.
   */
  readonly consumes?: readonly Reservation[];
}

/**
 * Encodes values as they are stored. Stores that commit writes in batches encode all values of a batch together:
 * one after the other, each finds code and tables in the CPU's caches.
 */
export interface ValueEncoder {
  /** Returns the stored form of each value, or the error that its write fails with. */
  encode(values: readonly KeyedValue[]): readonly (Uint8Array | Error)[];
}

export interface KeyedValue {
  readonly key: string;
  readonly value: Uint8Array;
}

/** A key written earlier to reserve something, such as an address, for the write that consumes it. */
export interface Reservation {
  readonly key: string;
  readonly revision: Revision;
}

/**
 * The result of a write. Deleting an absent key with expect "any" succeeds without creating a new revision. If
 * `done` is false although the key is as expected, a reservation no longer exists.
 */
export type Outcome =
  | { readonly done: true; readonly revision: Revision }
  | { readonly done: false; readonly current?: Entry };

/** One change as delivered to a watcher. A deletion has a null value and the revision of the deletion. */
export interface Change {
  readonly key: string;
  readonly revision: Revision;
  readonly value: Uint8Array | null;
  readonly created: Revision;
  /** The entry before the change; absent for a new key, and where unreadable values are marked. */
  readonly previous?: Entry;
  /** See Entry.unreadable. */
  readonly unreadable?: Error;
}

/**
 * Changes in order. Everything up to and including `through` has been delivered; an empty batch is a progress
 * notification.
 */
export interface Batch {
  readonly changes: readonly Change[];
  readonly through: Revision;
}

export interface Page {
  /** The revision this page shows: `at` if given, else the newest. */
  readonly revision: Revision;
  readonly entries: readonly Entry[];
  /** The number of keys in the range after the last entry. */
  readonly remaining: number;
}

export interface StoreStatus {
  readonly revision: Revision;
  readonly compacted: Revision;
  readonly keys: number;
  readonly bytes: number;
}

/** The keys below a prefix in key order, and the revision each was written at. */
export interface Versions {
  readonly keys: readonly string[];
  readonly revisions: readonly Revision[];
}

/** Called with the memory that returned values are views of. */
export type BufferCallback = (memory: Uint8Array) => void;

/**
 * Synchronous access to a store whose keys are in memory and whose values are on a local disk. It lets
 * callers with very many objects avoid holding them in memory.
 */
export interface LocalValues {
  versions(prefix: string, at: Revision): Versions;
  /** Returns the value written at a revision, or undefined if it is no longer kept. */
  value(revision: Revision): Uint8Array | undefined;
  /**
   * Returns several values at once, which is much cheaper than one by one; those no longer kept are omitted.
   * `onBuffer` is called with memory that nothing else refers to: the caller may free it once it is done with the
   * values.
   */
  values(revisions: readonly Revision[], onBuffer?: BufferCallback): ReadonlyMap<Revision, Uint8Array>;
  readonly derived: DerivedData;
}

/**
 * Data computed from stored values, in numbered pieces under a name. It has no revisions; a caller that finds
 * it missing computes it again.
 */
export interface DerivedData {
  read(name: string): readonly { readonly piece: number; readonly bytes: Uint8Array }[];
  /** Replaces a piece; null removes it. */
  write(name: string, piece: number, bytes: Uint8Array | null): Promise<void>;
}

export interface Store {
  /** Reads the newest state, or the state at an uncompacted revision. Throws Compacted or FutureRevision. */
  read(range: Range, at?: Revision): Promise<Page>;
  /** Resolves once the change is durable. Writes that were refused or failed leave no trace. */
  write(write: Write): Promise<Outcome>;
  /** Yields every change after `after`, once and in order, and returns when aborted. Throws Compacted. */
  watch(range: Range, after: Revision, signal: AbortSignal): AsyncIterable<Batch>;
  /**
   * Reports whether a value should be rewritten unchanged because it was encrypted with a key other than the
   * current one.
   */
  isStale?(key: string): Promise<boolean>;
  /** Set if values can be read synchronously; returns undefined for a prefix whose values are encrypted. */
  local?(prefix: string): LocalValues | undefined;
  /**
   * Set if the store is on this machine. Derived data is stored unencrypted, even where values are encrypted.
   */
  readonly derived?: DerivedData;
  /**
   * Returns the newest revision, confirmed with the store; open watches then receive a progress notification
   * at or after it soon.
   */
  progress(): Promise<Revision>;
  /** Drops history before `through`; current values stay. A revision below the last compaction is ignored. */
  compact(through: Revision): Promise<void>;
  status(): Promise<StoreStatus>;
  close(): Promise<void>;
}

/** The requested history has been compacted. */
export class Compacted extends Error {
  override readonly name = "Compacted";
  readonly compacted: Revision;
  constructor(compacted: Revision) {
    super(`the requested revision has been compacted; the oldest kept is ${compacted}`);
    this.compacted = compacted;
  }
}

/** The requested revision is newer than the store. */
export class FutureRevision extends Error {
  override readonly name = "FutureRevision";
  readonly current: Revision;
  constructor(requested: Revision, current: Revision) {
    super(`revision ${requested} is in the future; the newest is ${current}`);
    this.current = current;
  }
}
