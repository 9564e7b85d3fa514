// The objects of a custom kind, loaded into the cache on first use: most definitions of a cluster are hardly
// ever used. After close, requests still in progress read from the store: the cache is emptied, and an empty
// cache would yield wrong results.
import type { Revision, Store } from "#store";
import {
  type CachedObject,
  DirectSource,
  type FrameSink,
  type Freshness,
  type ListQuery,
  type ListResult,
  type ObjectSource,
  type Reader,
  type ResourceCache,
  type StoreReflector,
  type WatchQuery,
} from "#watchcache";

export interface LazySourceOptions {
  readonly reflector: StoreReflector;
  readonly store: Store;
  readonly prefix: string;
  readonly reader: Reader;
  /** Bypass the cache and read from the store. */
  readonly uncached: boolean;
}

export class LazySource implements ObjectSource {
  readonly #options: LazySourceOptions;
  readonly #direct: DirectSource;
  #loading: Promise<ResourceCache> | undefined;
  #cache: ResourceCache | undefined;
  #closed: boolean;
  readonly #closing = new AbortController();
  readonly #firstUse: (() => void)[] = [];

  constructor(options: LazySourceOptions) {
    this.#options = options;
    this.#direct = new DirectSource(options.store, options.prefix, options.reader);
    this.#closed = options.uncached;
  }

  async #source(): Promise<ObjectSource> {
    if (this.#closed) return this.#direct;
    if (this.#cache) return this.#cache;
    const { reflector, prefix, reader } = this.#options;
    this.#loading ??= reflector.add(prefix, reader);
    try {
      const cache = await this.#loading;
      if (this.#closed) {
        reflector.remove(cache);
        return this.#direct;
      }
      this.#cache = cache;
      for (const used of this.#firstUse.splice(0)) used();
      return cache;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }

  onFirstUse(used: () => void): void {
    if (this.#cache) used();
    else this.#firstUse.push(used);
  }

  /** Ends watches; later reads go to the store. */
  close(): void {
    this.#closed = true;
    this.#closing.abort();
    if (this.#cache) this.#options.reflector.remove(this.#cache);
    this.#cache = undefined;
  }

  async get(key: string, freshness: Freshness): Promise<CachedObject | undefined> {
    return await this.#read((source) => source.get(key, freshness));
  }

  async list(query: ListQuery): Promise<ListResult> {
    return await this.#read((source) => source.list(query));
  }

  async #read<Result>(read: (source: ObjectSource) => Promise<Result>): Promise<Result> {
    const source = await this.#source();
    const result = await read(source);
    return this.#isEmptied(source) ? await read(this.#direct) : result;
  }

  #isEmptied(source: ObjectSource): boolean {
    return source !== this.#direct && source !== this.#cache;
  }

  async watch(query: WatchQuery, watcher: FrameSink): Promise<void> {
    const source = await this.#source();
    const over = (): void => watcher.ended();
    if (source === this.#direct) {
      // A watch on the store does not notice that the definition has changed.
      this.#closing.signal.addEventListener("abort", over, { once: true });
      query.signal.addEventListener("abort", () => this.#closing.signal.removeEventListener("abort", over), {
        once: true,
      });
      if (this.#closing.signal.aborted) return over();
    }
    await source.watch(query, watcher);
    if (this.#isEmptied(source)) over();
  }

  revision(): Revision {
    return this.#cache?.revision() ?? this.#options.reflector.revision();
  }

  count(): number {
    return this.#cache?.count() ?? 0;
  }

  changeCount(): number {
    return (this.#cache ?? this.#direct).changeCount();
  }

  lastChange(): Revision {
    return (this.#cache ?? this.#direct).lastChange();
  }

  getCached(key: string): CachedObject | undefined {
    return this.#cache?.getCached(key);
  }

  listCached(below: string): CachedObject[] {
    return this.#cache?.listCached(below) ?? [];
  }
}
