// The read interface of endpoints: objects by key, by range and as they change. Implemented by the cache and
// by the plain store.
import type { Caller, Selector } from "#base";
import type { Revision } from "#store";
import type { Frame } from "./frame.ts";
import type { CachedObject } from "./cached-object.ts";

/** Required freshness of a result. */
export type Freshness =
  | { readonly at: "latest" }
  | { readonly at: "any" }
  | { readonly at: "notOlderThan"; readonly revision: Revision }
  | { readonly at: "exactly"; readonly revision: Revision };

export interface ListQuery {
  /** Key prefix below that of the resource, such as `default/`. */
  readonly below: string;
  readonly selector: Selector;
  readonly freshness: Freshness;
  readonly limit?: number;
  /** Continue after this key (also below the resource's prefix). */
  readonly after?: string;
  /** The waiting caller: when it disconnects, the list is aborted. */
  readonly caller?: Caller;
}

export interface ListResult {
  readonly revision: Revision;
  readonly items: readonly CachedObject[];
  /** Set when more items follow: the key to continue after. */
  readonly next?: string;
  /** Number of items that follow; unknown with a selector. */
  readonly remaining?: number;
  /** Memory that was read for this result alone; the consumer frees it once it has encoded the items. */
  readonly lent?: readonly Uint8Array[];
}

export interface WatchQuery {
  readonly below: string;
  readonly selector: Selector;
  /**
   * Start after this revision; "state" starts with the current objects as ADDED, "now" with the next change.
   */
  readonly from: Revision | "state" | "now";
  readonly signal: AbortSignal;
}

/** Receives frames as they occur, several at once if they arrive together. Must not block. */
export interface FrameSink {
  /** The array may be shared with other watchers. */
  deliver(frames: readonly Frame[]): void;
  /** While a watcher catches up it receives frames in batches, the next one once this resolves. */
  drained?(): Promise<void>;
  /** The stream has ended: the cache was rebuilt or the watcher is too slow. */
  ended(): void;
}

export interface ObjectSource {
  /**
   * Throws RevisionTimeout (or the store's FutureRevision) if the requested revision does not arrive,
   * Compacted if it has been compacted.
   */
  get(key: string, freshness: Freshness): Promise<CachedObject | undefined>;
  /** Throws as get() does. */
  list(query: ListQuery): Promise<ListResult>;
  /**
   * Starts a watch; throws Compacted if the start revision has been compacted. Resolves once the watcher has
   * caught up or has ended.
   */
  watch(query: WatchQuery, watcher: FrameSink): Promise<void>;
  /** Whether everything is read from the store. */
  readonly direct?: boolean;
  /** The newest revision this source has seen. */
  revision(): Revision;
  count(): number;
  /** All watchers have received all changes of this resource up to this revision. */
  lastChange(): Revision;
  /** A counter of changes of the state in memory, for any reason; never decreases. */
  changeCount(): number;
  /** Returns the cached object synchronously; undefined if there is no cache. */
  getCached(key: string): CachedObject | undefined;
  listCached(below: string): CachedObject[];
  /**
   * For sources that load on first use: `used` is called once objects are loaded, or immediately if they are.
   */
  onFirstUse?(used: () => void): void;
  /**
   * For objects that stay in the store: resolves once each of many can be found by its fields without reading others;
   * undefined if there are few.
   */
  indexed?(): Promise<void> | undefined;
}

/** The requested revision did not arrive in time. */
export class RevisionTimeout extends Error {
  override readonly name = "NotYet";
  readonly requested: Revision;
  readonly current: Revision;
  constructor(requested: Revision, current: Revision) {
    super(`Too large resource version: ${requested}, current: ${current}`);
    this.requested = requested;
    this.current = current;
  }
}
