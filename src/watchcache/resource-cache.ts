// The cache of one resource: all its objects as bytes, its recent changes, and everyone who watches them.
import { type Selector, SortedMap } from "#base";
import { Compacted, type Entry, type Revision, type Store, type Change as StoreChange } from "#store";
import { Demux, type Watching, frameFor } from "./demux.ts";
import { Change, Frame } from "./frame.ts";
import type { CachedObject } from "./cached-object.ts";
import { type CacheStats, cacheStats } from "./cache-stats.ts";
import { History, type HistoryBounds } from "./history.ts";
import { HeldInMemory, HeldInStore, type Holding, type InStoreOptions } from "./holding.ts";
import { pageFromStore, pageOf, picked } from "./page.ts";
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
 * Turns a stored value into what is held. What is made for one answer is not: it may keep the value itself, of
 * which a copy would be made otherwise.
 */
export type Reader = (entry: Entry, use?: "one answer") => CachedObject;

export interface Reflector {
  readonly store: Store;
  /** Resolves when everything up to `revision` has been applied here; throws NotYet after a while. */
  reached(revision: Revision): Promise<void>;
  /** Resolves when everything committed before the call has been applied; gives the revision. */
  current(): Promise<Revision>;
  /** Everything up to here has been applied. */
  revision(): Revision;
}

interface Answer {
  readonly items: WeakRef<readonly CachedObject[]>;
  readonly rest: Pick<ListResult, "next" | "remaining">;
}

const mostAnswers = 64;

/** How much a watcher that catches up is given before it must have taken it. */
const partFrames = 256;
const partBytes = 256 * 1024;

export interface ResourceCacheOptions {
  /** How much of the recent past is kept. */
  readonly bounds?: HistoryBounds | undefined;
  readonly indexedFields?: readonly string[] | undefined;
  /** Objects stay in the store. */
  readonly inStore?: InStoreOptions | undefined;
}

export class ResourceCache implements ObjectSource {
  readonly prefix: string;
  readonly read: Reader;
  readonly #feed: Reflector;
  readonly #bounds: HistoryBounds | undefined;
  #items = new SortedMap<CachedObject>();
  #history: History;
  /** Everything below a prefix, shared by watchers that start at the same moment. */
  #state: { readonly prefix: string; readonly items: readonly CachedObject[] } | undefined;
  #changes = 0;
  /** Lists given since the last change, by question. They last as long as somebody else uses them. */
  readonly #answers = new Map<string, Answer>();
  readonly #holding: Holding;
  readonly #watching: Demux;
  readonly #unreadable: UnreadableObjects;
  /** Counted for whoever asks; never read here. */
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

  /** What is stored at a revision, where it need not be read for that. */
  stored(at: Revision): readonly CachedObject[] | undefined {
    return this.#holding instanceof HeldInStore ? this.#holding.stored(at) : undefined;
  }

  /** Whether objects stay in the store: then stored() gives them. */
  get isInStore(): boolean {
    return this.#holding instanceof HeldInStore;
  }

  /**
   * Replaces everything, at start or after the feed lost its place. Watchers cannot tell what they missed and
   * are ended.
   */
  reset(items: readonly CachedObject[], revision: Revision, unreadable: readonly Entry[] = []): void {
    this.#unreadable.reset(unreadable);
    this.#items = SortedMap.of(items, ({ key }) => key);
    this.#forgetAnswers();
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
      this.#lose(stored, previous);
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
        this.#lose(stored, previous);
        return;
      }
      const { item } = decoded;
      change = new Change(revision, item, this.#replace(key, previous, item), false);
    }
    this.stats.events++;
    this.#forgetAnswers();
    this.#history.append(change);
    this.#watching.apply(change);
  }

  /** Puts an object in the place of another, as they are held, and gives that other one. */
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

  /** A change that cannot be read cannot be told: watchers end. */
  #lose({ key, revision }: StoreChange, previous: CachedObject | undefined): void {
    this.#unreadable.add(key, revision);
    this.stats.events++;
    this.stats.unreadable++;
    this.#items.delete(key);
    if (previous) this.#holding.replace(previous, undefined);
    this.#forgetAnswers();
    this.#history = this.#historySince(revision);
    this.#watching.end();
  }

  /** Tries again to read what could not be read; true when nothing is left. */
  async retryUnreadable(): Promise<boolean> {
    await this.#readable(this.prefix).catch(() => undefined);
    return this.#unreadable.size === 0;
  }

  /** Throws while something is stored below the prefix, or under that key, that cannot be read. */
  async #readable(prefix: string): Promise<void> {
    await this.#unreadable.retry(prefix, (entry) => {
      const item = this.#holding.hold(this.read(entry));
      this.#items.set(entry.key, item);
      this.#holding.replace(undefined, item);
      this.#forgetAnswers();
    });
  }

  /** Hands out what apply() gathered: one delivery per watcher and batch. */
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

  /** How many changes are remembered at most. */
  get historyCapacity(): number {
    return this.#history.capacity;
  }

  watchers(): number {
    return this.#watching.size;
  }

  async get(key: string, freshness: Freshness): Promise<CachedObject | undefined> {
    if (this.#unreadable.has(this.prefix + key)) await this.#readable(this.prefix + key);
    if (freshness.at !== "exactly") {
      await this.#fresh(freshness);
      const item = this.#items.get(this.prefix + key);
      return item && loaded(item);
    }
    await this.#kept(freshness.revision);
    const later = this.#since(freshness.revision);
    if (later) {
      const item = new SnapshotView(this.#items, later).get(this.prefix + key);
      return item && loaded(item);
    }
    const [entry] = (await this.#feed.store.read({ key: this.prefix + key }, freshness.revision)).entries;
    return entry && this.read(entry);
  }

  /**
   * A state of the past can be had for as long as the store keeps it, whatever is remembered here: what is
   * gone, or is yet to come, is so for every server.
   */
  async #kept(revision: Revision): Promise<void> {
    await this.#feed.store.read({ key: this.prefix }, revision);
    await this.#feed.reached(revision).catch(unlessBehind);
  }

  /**
   * What has changed since then; undefined where it is not known, or this server hangs behind: then the store
   * is asked.
   */
  #since(revision: Revision): readonly Change[] | undefined {
    return revision > this.revision() ? undefined : this.#history.after(revision);
  }

  /**
   * As long as nothing changes, the same question gets the same array, so that what was made of it can be
   * used again.
   */
  async list(query: ListQuery): Promise<ListResult> {
    const { freshness } = query;
    await this.#readable(this.prefix + query.below);
    if (freshness.at === "exactly") {
      await this.#kept(freshness.revision);
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
      return { ...page, ...(await this.#holding.give(page.items, query.caller)) };
    }
    await this.#indexed(query);
    await this.#fresh(freshness);
    const revision = this.revision();
    const question = questionOf(query);
    const known = this.#answers.get(question);
    const items = known?.items.deref();
    this.stats.lists++;
    if (known && items) {
      this.stats.returned += items.length;
      return { revision, items, ...known.rest };
    }
    const changes = this.#changes;
    const { items: found, revision: _, ...rest } = await this.#listed(query, revision);
    const given = await this.#holding.give(found, query.caller);
    const { items: made, lent } = given;
    this.stats.returned += made.length;
    if (changes !== this.#changes || lent?.length || isForOneAnswer(made[0]))
      return { revision, ...given, ...rest };
    if (this.#answers.size >= mostAnswers) this.#answers.delete(this.#answers.keys().next().value!);
    this.#answers.set(question, { items: new WeakRef(made), rest });
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
    const { page: found } = await picked(candidates, query, query.limit ?? Infinity);
    const last = query.limit === undefined ? undefined : found[query.limit - 1];
    if (!last || this.#items.count(this.prefix + query.below, last.key) === 0)
      return { revision, items: found };
    return { revision, items: found, next: last.key.slice(this.prefix.length) };
  }

  #forgetAnswers(): void {
    this.#changes++;
    this.#state = undefined;
    if (this.#answers.size > 0) this.#answers.clear();
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
      await this.#readable(this.prefix + query.below);
      await this.#indexed(query);
      await this.#fresh({ at: "latest" });
      revision = this.revision();
      const history = this.#history;
      await this.#tellState(watching, query);
      if (history !== this.#history && !signal.aborted) {
        watcher.ended();
        return;
      }
    } else {
      if (from === "now") await this.#fresh({ at: "latest" });
      revision = from === "now" ? this.revision() : from;
    }
    if (!this.#history.after(revision)) {
      if (from !== "state") throw new Compacted(this.#history.since);
      watcher.ended();
      return;
    }
    await this.#join(watching, revision, signal);
  }

  /** Objects that are there, some at a time, in key order. */
  async #tellState({ prefix, selector, watcher }: Watching, query: WatchQuery): Promise<void> {
    const candidates = this.#candidates(query);
    const items = selector.everything
      ? this.#everythingBelow(prefix)
      : candidates
        ? (await picked(candidates, query, Infinity)).page
        : (await pageOf(this.#items, this.prefix, query, 0)).items;
    this.stats.initialEvents += items.length;
    let part: Frame[] = [];
    let bytes = 0;
    for (const [at, item] of items.entries()) {
      part.push(new Frame("ADDED", item));
      bytes += item.line.length;
      if (at + 1 < items.length && part.length < partFrames && bytes < partBytes) continue;
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

  /**
   * Delivers what happened behind `revision`, some at a time, until the watcher stands where the cache does.
   */
  async #join(watching: Watching, revision: Revision, signal: AbortSignal): Promise<void> {
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
        end = partOf(missed);
        frames = missed.slice(0, end).flatMap((change) => frameFor(change, watching) ?? []);
      } catch (error) {
        // An object that stayed in the store is no longer there.
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

  /** Before the moment that an answer shows: to build an index takes a while. */
  async #indexed({ selector, below }: Pick<ListQuery, "selector" | "below">): Promise<void> {
    if (!selector.exact || asksForName(selector, below)) return;
    await this.#holding.ready(selector, () => this.#everythingBelow(this.prefix));
  }

  /** All that may match as of now, in key order, where the selector names a value to look it up by. */
  #candidates(query: Pick<ListQuery, "selector" | "below" | "after">): CachedObject[] | undefined {
    const { selector } = query;
    if (selector.everything) return undefined;
    const prefix = this.prefix + query.below;
    const after = query.after === undefined ? undefined : this.prefix + query.after;
    const within = ({ key }: CachedObject): boolean =>
      key.startsWith(prefix) && (after === undefined || key > after);
    const { exact } = selector;
    if (asksForName(selector, query.below)) {
      const item = this.#items.get(prefix + exact!.value);
      return item && within(item) ? [item] : [];
    }
    const candidates = exact && this.#holding.candidates(selector);
    if (!candidates) return undefined;
    const near: CachedObject[] = [];
    for (const item of candidates) if (within(item)) near.push(item);
    return near.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Whoever waited asks for the revision when it goes on: on the way back from here more may have come. */
  async #fresh(freshness: Exclude<Freshness, { at: "exactly" }>): Promise<void> {
    if (freshness.at === "latest") await this.#feed.current();
    else if (freshness.at === "notOlderThan") await this.#feed.reached(freshness.revision);
  }
}

function unlessBehind(error: unknown): void {
  if (!(error instanceof RevisionTimeout)) throw error;
}

/** Where the place is known, a name is the key. */
const asksForName = ({ exact }: Selector, below: string): boolean =>
  exact?.of === "field" && exact.key === "metadata.name" && below !== "";

/** The same for lists that must show the same. */
const questionOf = ({ below, limit, after, selector: { labels, fields } }: ListQuery): string =>
  JSON.stringify([below, limit, after, labels, fields]);

/** Where to cut: changes of one revision stay together, or going on behind it would lose the rest. */
function partOf(changes: readonly Change[]): number {
  let bytes = 0;
  for (let at = 0; at < changes.length; at++) {
    if ((at >= partFrames || bytes >= partBytes) && changes[at]!.revision !== changes[at - 1]!.revision)
      return at;
    bytes += changes[at]!.item.line.length;
  }
  return changes.length;
}
