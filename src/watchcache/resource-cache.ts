// The cache of one resource: all its objects as bytes, its recent changes, and everyone who watches them.
import { SortedMap } from "#base";
import { Compacted, type Entry, type Revision, type Store, type Change as StoreChange } from "#store";
import { Change, Frame } from "./frame.ts";
import { type Held, heldAt } from "./held.ts";
import { History } from "./history.ts";
import { IndexesOnDemand } from "./index-on-demand.ts";
import type { Freshness, ListQuery, Listing, ObjectSource, WatchQuery, Watcher } from "./source.ts";

/** Turns a stored value into what is held. */
export type Reader = (entry: Entry) => Held;

export interface CacheFeed {
  readonly store: Store;
  /** Resolves when everything up to `revision` has been applied here; throws NotYet after a while. */
  reached(revision: Revision): Promise<void>;
  /** Resolves when everything committed before the call has been applied; gives the revision. */
  current(): Promise<Revision>;
  /** Everything up to here has been applied. */
  revision(): Revision;
}

interface Watching {
  readonly prefix: string;
  readonly sees: (item: Held) => boolean;
  readonly watcher: Watcher;
  /** Changes up to here are none of its business, even if they are yet to come. */
  readonly after: Revision;
  pending: Frame[] | undefined;
}

const mostAnswers = 4;

export class ResourceCache implements ObjectSource {
  readonly prefix: string;
  readonly #read: Reader;
  readonly #feed: CacheFeed;
  #items = new SortedMap<Held>();
  #history = new History(0);
  readonly #indexes = new IndexesOnDemand();
  readonly #watching = new Set<Watching>();
  readonly #touched = new Set<Watching>();
  /** Answers to lists since the last change: the same question gets the very same items, and so the very same bytes. */
  readonly #answers = new Map<string, Omit<Listing, "revision">>();

  constructor(prefix: string, read: Reader, feed: CacheFeed) {
    this.prefix = prefix;
    this.#read = read;
    this.#feed = feed;
  }

  /** Replaces everything, at start or after the feed lost its place. Watchers cannot tell what they missed and are ended. */
  reset(entries: readonly Entry[], revision: Revision): void {
    this.#items = new SortedMap();
    this.#indexes.clear();
    this.#answers.clear();
    this.#history = new History(revision);
    for (const entry of entries) this.#items.set(entry.key, this.#read(entry));
    for (const { watcher } of this.#watching) watcher.ended();
    this.#watching.clear();
    this.#touched.clear();
  }

  apply(stored: StoreChange): void {
    if (this.#answers.size > 0) this.#answers.clear();
    const previous = this.#items.get(stored.key);
    let change: Change;
    if (stored.value === null) {
      if (!previous) return;
      this.#items.delete(stored.key);
      this.#indexes.replace(previous, undefined);
      change = new Change(stored.revision, heldAt(previous, stored.revision), previous, true);
    } else {
      const item = this.#read({ key: stored.key, value: stored.value, revision: stored.revision, created: stored.created });
      this.#items.set(stored.key, item);
      this.#indexes.replace(previous, item);
      change = new Change(stored.revision, item, previous, false);
    }
    this.#history.append(change);
    for (const watching of this.#watching) {
      if (stored.revision <= watching.after || !stored.key.startsWith(watching.prefix)) continue;
      const frame = change.frameFor(watching.sees);
      if (!frame) continue;
      (watching.pending ??= []).push(frame);
      this.#touched.add(watching);
    }
  }

  /** Hands out what apply() gathered: one delivery per watcher and batch. */
  flush(): void {
    for (const watching of this.#touched) {
      const frames = watching.pending!;
      watching.pending = undefined;
      watching.watcher.deliver(frames);
    }
    this.#touched.clear();
  }

  /** Tells watchers that care how far the feed has come. */
  progressed(revision: Revision): void {
    for (const { watcher } of this.#watching) watcher.progressed?.(revision);
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

  peek(key: string): Held | undefined {
    return this.#items.get(this.prefix + key);
  }

  peekAll(below: string): Held[] {
    const found: Held[] = [];
    this.#items.scan(this.prefix + below, undefined, (item) => void found.push(item));
    return found;
  }

  watchers(): number {
    return this.#watching.size;
  }

  async get(key: string, freshness: Freshness): Promise<Held | undefined> {
    if (freshness.at === "exactly") return (await this.#at(freshness.revision)).get(this.prefix + key);
    await this.#fresh(freshness);
    return this.#items.get(this.prefix + key);
  }

  async list(query: ListQuery): Promise<Listing> {
    const { freshness } = query;
    if (freshness.at === "exactly") {
      return pageOf(await this.#at(freshness.revision), this.prefix, query, freshness.revision);
    }
    const revision = await this.#fresh(freshness);
    const question = `${query.below} ${query.limit ?? ""} ${query.after ?? ""} ${query.selector.id}`;
    let answer = this.#answers.get(question);
    if (!answer) {
      const { exact } = query.selector;
      answer = exact && query.limit === undefined ? { items: this.#indexed(exact, query) } : pageOf(this.#items, this.prefix, query, revision);
      if (this.#answers.size >= mostAnswers) this.#answers.clear();
      this.#answers.set(question, answer);
    }
    return { ...answer, revision };
  }

  async watch(query: WatchQuery, watcher: Watcher): Promise<void> {
    const prefix = this.prefix + query.below;
    const sees = query.selector.everything ? () => true : (item: Held) => query.selector.matches(item);
    const watching: Watching = { prefix, sees, watcher, after: typeof query.from === "number" ? query.from : 0, pending: undefined };
    let first: Frame[] = [];
    if (query.from === "state") {
      await this.#fresh({ at: "latest" });
      this.#items.scan(prefix, undefined, (item) => {
        if (watching.sees(item)) first.push(new Frame("ADDED", item));
      });
    } else if (query.from !== "now") {
      const changes = this.#history.after(query.from);
      if (!changes) throw new Compacted(this.#history.since);
      first = changes.filter((change) => change.item.key.startsWith(prefix)).flatMap((change) => change.frameFor(watching.sees) ?? []);
    }
    if (query.signal.aborted) return;
    this.#watching.add(watching);
    query.signal.addEventListener("abort", () => {
      this.#watching.delete(watching);
      this.#touched.delete(watching);
    });
    if (first.length > 0) watcher.deliver(first);
  }

  #indexed(exact: NonNullable<ListQuery["selector"]["exact"]>, query: ListQuery): Held[] {
    const prefix = this.prefix + query.below;
    const after = query.after === undefined ? undefined : this.prefix + query.after;
    const found: Held[] = [];
    for (const item of this.#indexes.lookup(exact.of, exact.key, exact.value, () => this.#items.values())) {
      if (item.key.startsWith(prefix) && (after === undefined || item.key > after) && query.selector.matches(item)) found.push(item);
    }
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  async #fresh(freshness: Exclude<Freshness, { at: "exactly" }>): Promise<Revision> {
    if (freshness.at === "latest") return await this.#feed.current();
    if (freshness.at === "notOlderThan") await this.#feed.reached(freshness.revision);
    return this.#feed.revision();
  }

  /** The state at an earlier revision: the present with later changes undone, or from the store when that is too long ago. */
  async #at(revision: Revision): Promise<SortedMap<Held>> {
    await this.#feed.reached(revision);
    const later = this.#history.after(revision);
    if (later?.length === 0) return this.#items;
    const snapshot = new SortedMap<Held>();
    if (later) {
      for (const item of this.#items.values()) snapshot.set(item.key, item);
      for (const change of later.toReversed()) {
        if (change.previous) snapshot.set(change.previous.key, change.previous);
        else snapshot.delete(change.item.key);
      }
      return snapshot;
    }
    for (const entry of (await this.#feed.store.read({ prefix: this.prefix }, revision)).entries) snapshot.set(entry.key, this.#read(entry));
    return snapshot;
  }
}

/** One page in key order. Behind the limit it looks for one more match, so that the last page says that it is the last. */
export function pageOf(items: SortedMap<Held>, resourcePrefix: string, query: ListQuery, revision: Revision): Listing {
  const prefix = resourcePrefix + query.below;
  const after = query.after === undefined ? undefined : resourcePrefix + query.after;
  const page: Held[] = [];
  const limit = query.limit ?? Infinity;
  let more = false;
  items.scan(prefix, after, (item) => {
    if (page.length === limit) {
      // Under a selector the reference continues behind the last match it returned, whether or not more match.
      more = true;
      return false;
    }
    if (query.selector.everything || query.selector.matches(item)) page.push(item);
    return true;
  });
  const last = page.at(-1);
  if (!more || !last) return { revision, items: page };
  const next = last.key.slice(resourcePrefix.length);
  return { revision, items: page, next, ...(query.selector.everything && { remaining: items.count(prefix, last.key) }) };
}
