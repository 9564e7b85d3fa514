// What the endpoints read from: held objects by key, by range and as they change. The cache and the plain
// store both give it.
import type { Caller, Selector } from "#base";
import type { Revision } from "#store";
import type { Frame } from "./frame.ts";
import type { CachedObject } from "./cached-object.ts";

/** How new an answer must be. */
export type Freshness =
  | { readonly at: "latest" }
  | { readonly at: "any" }
  | { readonly at: "notOlderThan"; readonly revision: Revision }
  | { readonly at: "exactly"; readonly revision: Revision };

export interface ListQuery {
  /** Keys below the resource's own prefix, such as `default/`. */
  readonly below: string;
  readonly selector: Selector;
  readonly freshness: Freshness;
  readonly limit?: number;
  /** Continue behind this key (also below the resource's prefix). */
  readonly after?: string;
  /** Whoever waits for the list: when it leaves, the list ends. */
  readonly caller?: Caller;
}

export interface ListResult {
  readonly revision: Revision;
  readonly items: readonly CachedObject[];
  /** Set when more follow: the key to continue behind. */
  readonly next?: string;
  /** How many follow; unknown under a selector. */
  readonly remaining?: number;
  /** Memory that was read for this result alone: to free it is for whoever has made of the items what it wants. */
  readonly lent?: readonly Uint8Array[];
}

export interface WatchQuery {
  readonly below: string;
  readonly selector: Selector;
  /**
   * Changes behind this revision; "state" begins with the present objects as ADDED, "now" with whatever comes
   * next.
   */
  readonly from: Revision | "state" | "now";
  readonly signal: AbortSignal;
}

/** Receives frames as they happen, several at a time where they come together. Must not block. */
export interface FrameSink {
  /** The array may be shared with other watchers. */
  deliver(frames: readonly Frame[]): void;
  /** While a watcher catches up it is given some frames at a time, and more once this resolves. */
  drained?(): Promise<void>;
  /** The stream is over: the cache was rebuilt or the watcher is too slow. */
  ended(): void;
}

export interface ObjectSource {
  /**
   * Throws NotYet (or the store's FutureRevision) when the revision asked for does not arrive, Compacted when
   * it is gone.
   */
  get(key: string, freshness: Freshness): Promise<CachedObject | undefined>;
  /** Throws as get does. */
  list(query: ListQuery): Promise<ListResult>;
  /**
   * Starts a watch; throws Compacted when the start is too long ago. Resolves once the watcher has all there
   * was, or is over.
   */
  watch(query: WatchQuery, watcher: FrameSink): Promise<void>;
  /** Whether everything is read from the store. */
  readonly direct?: boolean;
  /** The newest revision this source has seen. */
  revision(): Revision;
  count(): number;
  /** Every watcher has been given all changes of this very resource up to here. */
  lastChange(): Revision;
  /** Counts the times that what is in memory has changed, by whatever means: it never goes back. */
  changeCount(): number;
  /** What is in memory right now, for those who must answer at once; nothing where there is no cache. */
  getCached(key: string): CachedObject | undefined;
  listCached(below: string): CachedObject[];
  /** Where objects are loaded when somebody first asks: called once they are, or at once. */
  onFirstUse?(used: () => void): void;
}

/** The revision asked for did not arrive in time. */
export class RevisionTimeout extends Error {
  override readonly name = "NotYet";
  readonly asked: Revision;
  readonly current: Revision;
  constructor(asked: Revision, current: Revision) {
    super(`Too large resource version: ${asked}, current: ${current}`);
    this.asked = asked;
    this.current = current;
  }
}
