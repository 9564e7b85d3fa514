// Reflects the store into the caches of all resources through a single watch, so that one revision describes
// the progress of all of them.
import type { Clock } from "#base";
import {
  type Batch,
  type Change as StoreChange,
  Compacted,
  type Entry,
  type Revision,
  type Store,
} from "#store";
import { type Reflector, type Reader, ResourceCache, type ResourceCacheOptions } from "./resource-cache.ts";
import type { CachedObject } from "./cached-object.ts";
import type { HistoryBounds } from "./history.ts";
import { RevisionTimeout } from "./source.ts";
import { tryDecode } from "./unreadable.ts";

const entriesPerRead = 1000;
const retryMilliseconds = 10_000;

/** Sorts after every key below a prefix. */
const lastCharacter = "\u{10ffff}";

/** The objects of one resource in a snapshot of the store. */
interface Loaded {
  readonly items: CachedObject[];
  readonly unreadable: Entry[];
}

export interface StoreReflectorOptions {
  readonly store: Store;
  /** Prefix of the watched keys. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called when the watch has to restart, with the reason. */
  readonly onRestart?: (error: unknown) => void;
  /** Called when a resource is loaded that has undecodable objects. */
  readonly onUnreadable?: (prefix: string, count: number, error: Error) => void;
  /** Bounds of each resource's history. */
  readonly bounds?: HistoryBounds;
  /** How long a reader waits for a future revision. */
  readonly patienceMilliseconds?: number;
}

export class StoreReflector implements Reflector {
  readonly store: Store;
  readonly #options: StoreReflectorOptions;
  readonly #caches = new Map<string, ResourceCache>();
  /** Caches being loaded, and the changes received meanwhile. */
  readonly #loading = new Map<ResourceCache, StoreChange[]>();
  /** Revision at which an added cache was loaded; it may be ahead of the watch. */
  readonly #loadedAt = new WeakMap<ResourceCache, Revision>();
  readonly #waiters: { readonly revision: Revision; readonly resolve: () => void }[] = [];
  #revision: Revision = 0;
  #running: Promise<void> | undefined;
  #ready = false;
  #retrying = false;
  /** Aborted when the watch has to restart. */
  #following: AbortController | undefined;

  constructor(options: StoreReflectorOptions) {
    this.store = options.store;
    this.#options = options;
  }

  /**
   * Creates the cache of one resource; `prefix` ends in a slash. Call it for all resources before start().
   */
  cache(
    prefix: string,
    read: Reader,
    options: Pick<ResourceCacheOptions, "indexedFields" | "inStore"> = {},
  ): ResourceCache {
    const cache = new ResourceCache(prefix, read, this, { bounds: this.#options.bounds, ...options });
    this.#caches.set(prefix, cache);
    return cache;
  }

  /**
   * Creates and loads the cache of a resource that is added while the store is being watched. It replaces an
   * earlier cache with the same prefix.
   */
  async add(prefix: string, read: Reader): Promise<ResourceCache> {
    const cache = new ResourceCache(prefix, read, this, { bounds: this.#options.bounds });
    const missed: StoreChange[] = [];
    this.#loading.set(cache, missed);
    try {
      const items: CachedObject[] = [];
      const unreadable: Entry[] = [];
      let after: string | undefined;
      let at: Revision | undefined;
      for (;;) {
        const page = await this.store.read(
          { prefix, limit: entriesPerRead, ...(after !== undefined && { after }), unreadable: "mark" },
          at,
        );
        at ??= page.revision;
        for (const entry of page.entries) sortEntry(entry, read, { items, unreadable });
        after = page.entries.at(-1)?.key;
        if (page.remaining === 0 || after === undefined) break;
      }
      this.#reset(cache, { items, unreadable }, at);
      for (const change of missed) if (change.revision > at) cache.apply(change);
      this.#loadedAt.set(cache, at);
      this.remove(this.#caches.get(prefix));
      this.#caches.set(prefix, cache);
      return cache;
    } finally {
      this.#loading.delete(cache);
    }
  }

  /** Removes a resource: its watches end, and the cache must no longer be used. */
  remove(cache: ResourceCache | undefined): void {
    if (!cache) return;
    if (this.#caches.get(cache.prefix) === cache) this.#caches.delete(cache.prefix);
    cache.reset([], this.#revision);
  }

  /**
   * Loads everything, then watches the store until the signal is aborted. Resolves when everything is loaded;
   * retries if the store fails.
   */
  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#running = this.#run(() => resolve(true)).finally(() => resolve(false));
    if (!(await promise)) throw new Error("the watch of the store was stopped before everything was loaded");
  }

  /** Resolves when the watch has ended. */
  async stopped(): Promise<void> {
    await this.#running;
  }

  ready(): boolean {
    return this.#ready;
  }

  revision(): Revision {
    return this.#revision;
  }

  async current(): Promise<Revision> {
    const known = this.#revision;
    const revision = await this.store.progress();
    if (revision < known) this.#handleRollback(known, revision);
    if (revision > this.#revision) await this.reached(revision);
    return this.#revision;
  }

  /**
   * Handles a store whose revision went backwards: it was restored from an older state, which invalidates all
   * caches.
   */
  #handleRollback(from: Revision, to: Revision): void {
    if (this.#revision < from) return;
    this.#revision = 0;
    this.#following?.abort(
      new Error(`the store was at revision ${from} and is now at ${to}: it was restored from an older state`),
    );
  }

  async reached(revision: Revision): Promise<void> {
    if (revision <= this.#revision) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { revision, resolve };
    this.#waiters.push(waiting);
    const cancelTimeout = this.#options.clock.after(this.#options.patienceMilliseconds ?? 3000, resolve);
    // A failing store is irrelevant here: the wait times out.
    this.store.progress().catch(() => undefined);
    await promise;
    cancelTimeout();
    const at = this.#waiters.indexOf(waiting);
    if (at >= 0) this.#waiters.splice(at, 1);
    if (revision > this.#revision) throw new RevisionTimeout(revision, this.#revision);
  }

  async #run(loaded: () => void): Promise<void> {
    const { store, prefix, signal, clock } = this.#options;
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        await this.#load();
        if (signal.aborted) return;
        this.#ready = true;
        loaded();
        void this.#retryUnreadable(signal);
        attempt = 0;
        const following = (this.#following = new AbortController());
        for await (const batch of store.watch(
          { prefix, unreadable: "mark" },
          this.#revision,
          AbortSignal.any([signal, following.signal]),
        )) {
          if (following.signal.aborted) break;
          this.#apply(batch);
        }
        if (signal.aborted) return;
        if (following.signal.aborted) this.#options.onRestart?.(following.signal.reason);
      } catch (error) {
        if (signal.aborted) return;
        this.#options.onRestart?.(error);
        if (!(error instanceof Compacted))
          await clock.sleep(Math.min(100 * 2 ** attempt, 5000), signal).catch(() => undefined);
      }
      this.#ready = false;
    }
  }

  /** Reads a snapshot of everything, decoding it in batches so that other work can run. */
  async #load(): Promise<void> {
    const loaded = new Map<string, Loaded>(
      [...this.#caches.keys()].map((prefix) => [prefix, { items: [], unreadable: [] }]),
    );
    let after: string | undefined;
    let at: Revision | undefined;
    for (;;) {
      const page = await this.store.read(
        {
          prefix: this.#options.prefix,
          limit: entriesPerRead,
          ...(after !== undefined && { after }),
          unreadable: "mark",
        },
        at,
      );
      at ??= page.revision;
      after = page.entries.at(-1)?.key;
      for (const entry of page.entries) {
        const prefix = this.#prefixOf(entry.key);
        // Objects that stay in the store are skipped: the next page begins after them.
        if (prefix !== undefined && this.#caches.get(prefix)!.isInStore) {
          if (entry.key === after) after = prefix + lastCharacter;
          continue;
        }
        // A cache that is added meanwhile loads itself.
        const found = prefix === undefined ? undefined : loaded.get(prefix);
        if (found) sortEntry(entry, this.#caches.get(prefix!)!.read, found);
      }
      if (page.remaining === 0 || after === undefined || this.#options.signal.aborted) break;
    }
    for (const [prefix, found] of loaded) {
      const cache = this.#caches.get(prefix);
      if (!cache) continue;
      this.#loadedAt.delete(cache);
      this.#reset(cache, found, at);
    }
    this.#advance(at);
  }

  #reset(cache: ResourceCache, { items, unreadable }: Loaded, at: Revision): void {
    cache.reset(cache.stored(at) ?? items, at, unreadable);
    const [first] = unreadable;
    if (first?.unreadable) this.#options.onUnreadable?.(cache.prefix, unreadable.length, first.unreadable);
  }

  /**
   * Retries undecodable objects, since a key service may return and keys may be restored to the
   * configuration.
   */
  async #retryUnreadable(signal: AbortSignal): Promise<void> {
    if (this.#retrying) return;
    this.#retrying = true;
    try {
      for (;;) {
        const left: boolean[] = [];
        for (const cache of this.#caches.values()) left.push(await cache.retryUnreadable());
        if (left.every(Boolean) || signal.aborted) return;
        await this.#options.clock.sleep(retryMilliseconds, signal).catch(() => undefined);
      }
    } finally {
      this.#retrying = false;
    }
  }

  #apply(batch: Batch): void {
    const touched = new Set<ResourceCache>();
    for (const change of batch.changes) {
      for (const [loading, missed] of this.#loading)
        if (change.key.startsWith(loading.prefix)) missed.push(change);
      const cache = this.#caches.get(this.#prefixOf(change.key) ?? "");
      if (!cache || change.revision <= (this.#loadedAt.get(cache) ?? 0)) continue;
      cache.apply(change);
      touched.add(cache);
    }
    this.#advance(batch.through);
    for (const cache of touched) cache.flush();
  }

  #advance(revision: Revision): void {
    if (revision > this.#revision) this.#revision = revision;
    if (this.#waiters.length === 0) return;
    for (const waiting of this.#waiters.filter((item) => item.revision <= this.#revision)) waiting.resolve();
  }

  /**
   * Returns the resource prefix of a key, which ends at one of the first three slashes after the reflector's
   * prefix: `pods/` or `apps/deployments/`.
   */
  #prefixOf(key: string): string | undefined {
    let end = key.indexOf("/", this.#options.prefix.length);
    for (let depth = 0; depth < 3 && end > 0; depth++) {
      const prefix = key.slice(0, end + 1);
      if (this.#caches.has(prefix)) return prefix;
      end = key.indexOf("/", end + 1);
    }
    return undefined;
  }
}

/** Decodes an entry. An undecodable one must not prevent others from being served. */
function sortEntry(entry: Entry, read: Reader, { items, unreadable }: Loaded): void {
  if (entry.unreadable) {
    unreadable.push(entry);
    return;
  }
  const decoded = tryDecode(() => read(entry));
  if ("item" in decoded) items.push(decoded.item);
  else unreadable.push({ ...entry, unreadable: decoded.error });
}
