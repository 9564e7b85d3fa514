// Objects of one version, read from where they are cached in another. What was converted once is kept as long as
// the object it was made from.
import type { Revision } from "#store";
import {
  type CachedObject,
  Frame,
  type FrameSink,
  type Freshness,
  type ListQuery,
  type ListResult,
  type ObjectSource,
  type WatchQuery,
} from "#watchcache";

/** Converts objects, in their order. Throws when one of them cannot be converted. */
export type ConvertObjects = (objects: readonly CachedObject[]) => Promise<readonly CachedObject[]>;

export class ConvertedSource implements ObjectSource {
  readonly #base: ObjectSource;
  readonly #convert: ConvertObjects;
  readonly #converted = new WeakMap<CachedObject, CachedObject>();
  /** The same list gives the same array, so that what was made of it can be used again. */
  readonly #lists = new WeakMap<readonly CachedObject[], readonly CachedObject[]>();

  constructor(base: ObjectSource, convert: ConvertObjects) {
    this.#base = base;
    this.#convert = convert;
  }

  async get(key: string, freshness: Freshness): Promise<CachedObject | undefined> {
    const found = await this.#base.get(key, freshness);
    return found && (await this.#all([found]))[0];
  }

  async list(query: ListQuery): Promise<ListResult> {
    const result = await this.#base.list(query);
    let items = this.#lists.get(result.items);
    if (!items) this.#lists.set(result.items, (items = await this.#all(result.items)));
    return { ...result, items };
  }

  async watch(query: WatchQuery, watcher: FrameSink): Promise<void> {
    let last: Promise<void> = Promise.resolve();
    const sink: FrameSink = {
      deliver: (frames) => {
        last = last.then(() => this.#pass(frames, watcher, query.signal));
      },
      ...(watcher.drained && { drained: () => last.then(() => watcher.drained?.()) }),
      ended: () => {
        last = last.then(() => watcher.ended());
      },
    };
    await this.#base.watch(query, sink);
    await last;
  }

  async #pass(frames: readonly Frame[], watcher: FrameSink, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    try {
      const objects = await this.#all(frames.map(({ item }) => item));
      watcher.deliver(frames.map(({ type }, i) => new Frame(type, objects[i]!)));
    } catch {
      // Who watches cannot be told which object failed; the next list tells.
      watcher.ended();
    }
  }

  async #all(objects: readonly CachedObject[]): Promise<readonly CachedObject[]> {
    const missing = objects.filter((object) => !this.#converted.has(object));
    if (missing.length > 0) {
      const made = await this.#convert(missing);
      missing.forEach((object, i) => this.#converted.set(object, made[i]!));
    }
    return objects.map((object) => this.#converted.get(object)!);
  }

  revision(): Revision {
    return this.#base.revision();
  }

  count(): number {
    return this.#base.count();
  }

  changeCount(): number {
    return this.#base.changeCount();
  }

  lastChange(): Revision {
    return this.#base.lastChange();
  }

  getCached(key: string): CachedObject | undefined {
    const found = this.#base.getCached(key);
    return found && this.#converted.get(found);
  }

  listCached(below: string): CachedObject[] {
    return this.#base.listCached(below).flatMap((object) => this.#converted.get(object) ?? []);
  }
}
