// The cache of one resource: all its objects as bytes, its recent changes, and its watchers.
import { type Selector, SortedMap } from "#base";
import { Compacted, type Entry, type Revision, type Store, type Change as StoreChange } from "#store";
import { Demux, type Watching, frameFor } from "./demux.ts";
import { Change, Frame } from "./frame.ts";
import type { CachedObject } from "./cached-object.ts";
import { type CacheStats, cacheStats } from "./cache-stats.ts";
import { History, type HistoryBounds } from "./history.ts";
import { HeldInMemory, HeldInStore, type Holding, type InStoreOptions } from "./holding.ts";
import { pageFromStore, pageOf, selectMatching } from "./page.ts";
import { SnapshotView } from "./snapshot-view.ts";
import { loaded } from "./stored-object.ts";
import { isForOneAnswer } from "./unspliced.ts";
import { UnreadableObjects, tryDecode } from "./unreadable.ts";
import {
  type Freshness,
  type ListQuery,
  type ListResult,
  RevisionTimeout,
  type ObjectSource,
  type WatchQuery,
  type FrameSink,
} from "./source.ts";

/**
 * Converts a stored value to its cached form. An object for one answer is not cached, so that it may
 * reference the value instead of copying it.
 */
export type Reader = (entry: Entry, use?: "one answer") => CachedObject;

export interface Reflector {
  readonly store: Store;
  /** Resolves when everything up to `revision` has been applied; throws RevisionTimeout after a while. */
  reached(revision: Revision): Promise<void>;
  /** Resolves with the current revision once everything committed before the call has been applied. */
  current(): Promise<Revision>;
  /** The revision up to which everything has been applied. */
  revision(): Revision;
}

interface CachedResult {
  readonly items: WeakRef<readonly CachedObject[]>;
  readonly rest: Pick<ListResult, "next" | "remaining">;
}

const maxCachedResults = 64;

/** Maximum size of a delivery to a watcher that catches up, before it must be drained. */
const batchFrames = 256;
const batchBytes = 256 * 1024;

export interface ResourceCacheOptions {
  /** Bounds of the history. */
  readonly bounds?: HistoryBounds | undefined;
  readonly indexedFields?: readonly string[] | undefined;
  /** Set if objects stay in the store. */
  readonly inStore?: InStoreOptions | undefined;
}

export class ResourceCache implements ObjectSource {
  readonly prefix: string;
  readonly read: Reader;
  readonly #feed: Reflector;
  readonly #bounds: HistoryBounds | undefined;
  #items = new SortedMap<CachedObject>();
  #history: History;
  /** All objects below a prefix, shared by watchers that start at the same time. */
  #state: { readonly prefix: string; readonly items: readonly CachedObject[] } | undefined;
  #changes = 0;
  /** Results of lists since the last change, by query, as long as they are in use elsewhere. */
  readonly #results = new Map<string, CachedResult>();
  readonly #holding: Holding;
  readonly #watching: Demux;
  readonly #unreadable: UnreadableObjects;
  /** For observers only; never read by the cache. */
  readonly stats: CacheStats = cacheStats();

  constructor(
    prefix: string,
    read: Reader,
    feed: Reflector,
    { bounds, indexedFields = [], inStore }: ResourceCacheOptions = {},
  ) {
    this.prefix = prefix;
    this.read = read;
    this.#feed = feed;
    this.#bounds = bounds;
    this.#history = this.#historySince(0);
    this.#watching = new Demux(prefix);
    this.#unreadable = new UnreadableObjects(feed.store);
    this.#holding = inStore
      ? new HeldInStore(prefix, read, inStore)
      : new HeldInMemory(indexedFields, () => this.listCached(""));
  }

  #historySince(revision: Revision): History {
    return new History(revision, { bounds: this.#bounds, stats: this.stats });
  }

  /** Returns the objects stored at a revision, if that requires no reads. */
  stored(at: Revision): readonly CachedObject[] | undefined {
    return this.#holding instanceof HeldInStore ? this.#holding.stored(at) : undefined;
  }

  /** Whether objects stay in the store, so that stored() returns them. */
  get isInStore(): boolean {
    return this.#holding instanceof HeldInStore;
  }

  readonly indexed = (): Promise<void> | undefined => this.#holding.indexed;

  /**
   * Replaces all objects, at startup or after the feed was interrupted. Watchers are ended, since the changes
   * they missed are unknown.
   */
  reset(items: readonly CachedObject[], revision: Revision, unreadable: readonly Entry[] = []): void {
    this.#unreadable.reset(unreadable);
    this.#items = SortedMap.of(items, ({ key }) => key);
    this.#invalidateResults();
    this.#history = this.#historySince(revision);
    this.#holding.load(items);
    this.stats.bytes = this.#holding.bytes;
    this.stats.initializations++;
    this.stats.storeLists++;
    this.stats.storeFetched += items.length;
    this.stats.unreadable += unreadable.length;
    this.#watching.end();
  }

  apply(stored: StoreChange): void {
    const previous = this.#items.get(stored.key);
    this.#unreadable.delete(stored.key);
    if (stored.unreadable) {
      this.#applyUndecodable(stored, previous);
      return;
    }
    let change: Change;
    if (stored.value === null) {
      if (!previous) return;
      const before = this.#replace(stored.key, previous, undefined)!;
      change = new Change(stored.revision, before, before, true);
    } else {
      const { key, value, revision, created } = stored;
      const decoded = tryDecode(() => this.read({ key, value, revision, created }));
      if ("error" in decoded) {
        this.#applyUndecodable(stored, previous);
        return;
      }
      const { item } = decoded;
      change = new Change(revision, item, this.#replace(key, previous, item), false);
    }
    this.stats.events++;
    this.#invalidateResults();
    this.#history.append(change);
    this.#watching.apply(change);
  }

  /** Replaces an object by another one and returns the previous state. */
  #replace(
    key: string,
    previous: CachedObject | undefined,
    item: CachedObject | undefined,
  ): CachedObject | undefined {
    const holding = this.#holding;
    const before = previous && holding.before(previous);
    const held = item && holding.hold(item);
    if (held) this.#items.set(key, held);
    else this.#items.delete(key);
    holding.replace(previous, held);
    this.stats.bytes = holding.bytes;
    return before;
  }

  /** Handles a change that cannot be decoded: watchers are ended, since it cannot be delivered. */
  #applyUndecodable({ key, revision }: StoreChange, previous: CachedObject | undefined): void {
    this.#unreadable.add(key, revision);
    this.stats.events++;
    this.stats.unreadable++;
    this.#items.delete(key);
    if (previous) this.#holding.replace(previous, undefined);
    this.#invalidateResults();
    this.#history = this.#historySince(revision);
    this.#watching.end();
  }

  /** Retries objects that could not be decoded; returns true when none are left. */
  async retryUnreadable(): Promise<boolean> {
    await this.#ensureReadable(this.prefix).catch(() => undefined);
    return this.#unreadable.size === 0;
  }

  /** Throws while an object below the prefix, or with that key, cannot be decoded. */
  async #ensureReadable(prefix: string): Promise<void> {
    await this.#unreadable.retry(prefix, (entry) => {
      const item = this.#holding.hold(this.read(entry));
      this.#items.set(entry.key, item);
      this.#holding.replace(undefined, item);
      this.#invalidateResults();
    });
  }

  /** Delivers the frames collected by apply(): one delivery per watcher and batch. */
  flush(): void {
    this.#watching.flush();
  }

  revision(): Revision {
    return this.#feed.revision();
  }

  count(): number {
    return this.#items.size;
  }

  lastChange(): Revision {
    return this.#history.newest;
  }

  changeCount(): number {
    return this.#changes;
  }

  getCached(key: string): CachedObject | undefined {
    return this.#items.get(this.prefix + key);
  }

  listCached(below: string): CachedObject[] {
    const found: CachedObject[] = [];
    this.#items.scan(this.prefix + below, undefined, (item) => void found.push(item));
    return found;
  }

  /** Current maximum number of changes in the history. */
  get historyCapacity(): number {
    return this.#history.capacity;
  }

  watchers(): number {
    return this.#watching.size;
  }

  async get(key: string, freshness: Freshness): Promise<CachedObject | undefined> {
    if (this.#unreadable.has(this.prefix + key)) await this.#ensureReadable(this.prefix + key);
    if (freshness.at !== "exactly") {
      await this.#waitUntilFresh(freshness);
      const item = this.#items.get(this.prefix + key);
      return item && loaded(item);
    }
    await this.#ensureKept(freshness.revision);
    const later = this.#since(freshness.revision);
    if (later) {
      const item = new SnapshotView(this.#items, later).get(this.prefix + key);
      return item && loaded(item);
    }
    const [entry] = (await this.#feed.store.read({ key: this.prefix + key }, freshness.revision)).entries;
    return entry && this.read(entry);
  }

  /**
   * Checks that the store still has a revision, regardless of the history: a compacted or future revision
   * fails the same way on every server.
   */
  async #ensureKept(revision: Revision): Promise<void> {
    await this.#feed.store.read({ key: this.prefix }, revision);
    await this.#feed.reached(revision).catch(unlessBehind);
  }

  /**
   * Returns the changes since a revision; undefined if they are unknown or this server lags behind: then the
   * store is read.
   */
  #since(revision: Revision): readonly Change[] | undefined {
    return revision > this.revision() ? undefined : this.#history.after(revision);
  }

  /**
   * Lists objects. As long as nothing changes, the same query returns the same array, so that encodings of it
   * can be reused.
   */
  async list(query: ListQuery): Promise<ListResult> {
    const { freshness } = query;
    await this.#ensureReadable(this.prefix + query.below);
    if (freshness.at === "exactly") {
      await this.#ensureKept(freshness.revision);
      const later = this.#since(freshness.revision);
      if (!later) {
        const { store } = this.#feed;
        const page = await pageFromStore(store, this.prefix, this.read, query, freshness.revision);
        this.stats.storeLists++;
        this.stats.storeFetched += page.items.length;
        return page;
      }
      const page = await pageOf(
        later.length === 0 ? this.#items : new SnapshotView(this.#items, later),
        this.prefix,
        query,
        freshness.revision,
      );
      return { ...page, ...(await this.#holding.withBytes(page.items, query.caller)) };
    }
    await this.#indexed(query);
    await this.#waitUntilFresh(freshness);
    const revision = this.revision();
    const queryText = queryKey(query);
    const known = this.#results.get(queryText);
    const items = known?.items.deref();
    this.stats.lists++;
    if (known && items) {
      this.stats.returned += items.length;
      return { revision, items, ...known.rest };
    }
    const changes = this.#changes;
    const { items: found, revision: _, ...rest } = await this.#listed(query, revision);
    const given = await this.#holding.withBytes(found, query.caller);
    const { items: made, lent } = given;
    this.stats.returned += made.length;
    if (changes !== this.#changes || lent?.length || isForOneAnswer(made[0]))
      return { revision, ...given, ...rest };
    if (this.#results.size >= maxCachedResults) this.#results.delete(this.#results.keys().next().value!);
    this.#results.set(queryText, { items: new WeakRef(made), rest });
    return { revision, items: made, ...rest };
  }

  async #listed(query: ListQuery, revision: Revision): Promise<ListResult> {
    const candidates = this.#candidates(query);
    if (!candidates) {
      this.stats.fetched += query.selector.everything
        ? Math.min(query.limit ?? Infinity, this.#items.size)
        : this.#items.size;
      return await pageOf(this.#items, this.prefix, query, revision);
    }
    this.stats.indexLists++;
    this.stats.fetched += candidates.length;
    const { page: found } = await selectMatching(candidates, query, query.limit ?? Infinity);
    const last = query.limit === undefined ? undefined : found[query.limit - 1];
    if (!last || this.#items.count(this.prefix + query.below, last.key) === 0)
      return { revision, items: found };
    return { revision, items: found, next: last.key.slice(this.prefix.length) };
  }

  #invalidateResults(): void {
    this.#changes++;
    this.#state = undefined;
    if (this.#results.size > 0) this.#results.clear();
  }

  async watch(query: WatchQuery, watcher: FrameSink): Promise<void> {
    const { signal, selector, from } = query;
    const watching: Watching = {
      prefix: this.prefix + query.below,
      selector,
      watcher,
      after: typeof from === "number" ? from : 0,
    };
    let revision: Revision;
    if (from === "state") {
      await this.#ensureReadable(this.prefix + query.below);
      await this.#indexed(query);
      await this.#waitUntilFresh({ at: "latest" });
      revision = this.revision();
      const history = this.#history;
      await this.#sendState(watching, query);
      if (history !== this.#history && !signal.aborted) {
        watcher.ended();
        return;
      }
    } else {
      if (from === "now") await this.#waitUntilFresh({ at: "latest" });
      revision = from === "now" ? this.revision() : from;
    }
    if (!this.#history.after(revision)) {
      if (from !== "state") throw new Compacted(this.#history.since);
      watcher.ended();
      return;
    }
    await this.#catchUp(watching, revision, signal);
  }

  /** Sends the current objects in batches, in key order. */
  async #sendState({ prefix, selector, watcher }: Watching, query: WatchQuery): Promise<void> {
    const candidates = this.#candidates(query);
    const items = selector.everything
      ? this.#everythingBelow(prefix)
      : candidates
        ? (await selectMatching(candidates, query, Infinity)).page
        : (await pageOf(this.#items, this.prefix, query, 0)).items;
    this.stats.initialEvents += items.length;
    let part: Frame[] = [];
    let bytes = 0;
    for (const [at, item] of items.entries()) {
      part.push(new Frame("ADDED", item));
      bytes += item.line.length;
      if (at + 1 < items.length && part.length < batchFrames && bytes < batchBytes) continue;
      watcher.deliver(part);
      part = [];
      bytes = 0;
      if (at + 1 < items.length) await watcher.drained?.();
      if (query.signal.aborted) return;
    }
  }

  #everythingBelow(prefix: string): readonly CachedObject[] {
    if (this.#state?.prefix !== prefix) {
      const items: CachedObject[] = [];
      this.#items.scan(prefix, undefined, (item) => void items.push(item));
      this.#state = { prefix, items };
    }
    return this.#state.items;
  }

  /** Delivers the changes after `revision` in batches until the watcher has caught up with the cache. */
  async #catchUp(watching: Watching, revision: Revision, signal: AbortSignal): Promise<void> {
    const { watcher } = watching;
    const history = this.#history;
    for (let from = revision; !signal.aborted;) {
      const missed = this.#history.after(from);
      if (!missed || history !== this.#history) {
        watcher.ended();
        return;
      }
      let end: number;
      let frames: readonly Frame[];
      try {
        end = batchEnd(missed);
        frames = missed.slice(0, end).flatMap((change) => frameFor(change, watching) ?? []);
      } catch (error) {
        // An object that stays in the store has been compacted meanwhile.
        if (!(error instanceof Compacted) || from === revision) throw error;
        watcher.ended();
        return;
      }
      if (frames.length > 0) watcher.deliver(frames);
      if (signal.aborted) return;
      if (end === missed.length) {
        this.#watching.add(watching, watching.after > this.#feed.revision());
        signal.addEventListener("abort", () => this.#watching.delete(watching), { once: true });
        return;
      }
      from = missed[end - 1]!.revision;
      await watcher.drained?.();
    }
  }

  /** Prepares indexes before the revision of the response is determined, since building one takes a while. */
  async #indexed({ selector, below }: Pick<ListQuery, "selector" | "below">): Promise<void> {
    if (!selector.exact || selectsName(selector, below)) return;
    await this.#holding.ready(selector, () => this.#everythingBelow(this.prefix));
  }

  /** Returns all candidates for a match in key order, if the selector requires a value that can be looked up. */
  #candidates(query: Pick<ListQuery, "selector" | "below" | "after">): CachedObject[] | undefined {
    const { selector } = query;
    if (selector.everything) return undefined;
    const prefix = this.prefix + query.below;
    const after = query.after === undefined ? undefined : this.prefix + query.after;
    const within = ({ key }: CachedObject): boolean =>
      key.startsWith(prefix) && (after === undefined || key > after);
    const { exact } = selector;
    if (selectsName(selector, query.below)) {
      const item = this.#items.get(prefix + exact!.value);
      return item && within(item) ? [item] : [];
    }
    const candidates = exact && this.#holding.candidates(selector);
    if (!candidates) return undefined;
    const near: CachedObject[] = [];
    for (const item of candidates) if (within(item)) near.push(item);
    return near.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Waits for the requested freshness. Callers read the revision afterwards, since it may be newer still. */
  async #waitUntilFresh(freshness: Exclude<Freshness, { at: "exactly" }>): Promise<void> {
    if (freshness.at === "latest") await this.#feed.current();
    else if (freshness.at === "notOlderThan") await this.#feed.reached(freshness.revision);
  }
}

function unlessBehind(error: unknown): void {
  if (!(error instanceof RevisionTimeout)) throw error;
}

/** Reports whether the selector determines the key: an exact name in a known namespace. */
const selectsName = ({ exact }: Selector, below: string): boolean =>
  exact?.of === "field" && exact.key === "metadata.name" && below !== "";

/** Returns a key that is equal for queries with equal results. */
const queryKey = ({ below, limit, after, selector: { labels, fields } }: ListQuery): string =>
  JSON.stringify([below, limit, after, labels, fields]);

/** Returns where to cut a batch: changes of one revision stay together, or resuming after it would lose some. */
function batchEnd(changes: readonly Change[]): number {
  let bytes = 0;
  for (let at = 0; at < changes.length; at++) {
    if ((at >= batchFrames || bytes >= batchBytes) && changes[at]!.revision !== changes[at - 1]!.revision)
      return at;
    bytes += changes[at]!.item.line.length;
  }
  return changes.length;
}
