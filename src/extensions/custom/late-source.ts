// The objects of a defined kind, loaded when somebody first asks: most definitions of a cluster are hardly ever
// used. Once it is closed, requests that are still under way read from the store itself: its cache is emptied under
// them, and an empty cache would say that there is nothing.
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

export interface LateSourceOptions {
  readonly reflector: StoreReflector;
  readonly store: Store;
  readonly prefix: string;
  readonly reader: Reader;
  /** Objects are read from the store alone. */
  readonly uncached: boolean;
}

export class LateSource implements ObjectSource {
  readonly #options: LateSourceOptions;
  readonly #direct: DirectSource;
  #loading: Promise<ResourceCache> | undefined;
  #cache: ResourceCache | undefined;
  #closed: boolean;
  readonly #closing = new AbortController();
  readonly #firstUse: (() => void)[] = [];

  constructor(options: LateSourceOptions) {
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

  /** Ends watches; what is asked later is read from the store. */
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
      // A watch of the store does not know that the definition has changed.
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
