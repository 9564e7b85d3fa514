// Objects of one version, read from where they are cached in another. What is cached here is converted once, when
// it changes; whoever asks for the newest state has it converted for themselves, unless conversion always gives the
// same.
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
import { selectEverything } from "#base";

/** Converts an object. Throws when it cannot be converted. */
export type ConvertObject = (object: CachedObject) => Promise<CachedObject>;

export interface ConvertedSourceOptions {
  readonly base: ObjectSource;
  readonly convert: ConvertObject;
  /** Somebody else converts, who may do it otherwise tomorrow. */
  readonly foreign: boolean;
  /** Aborted when nobody will ask any more. */
  readonly signal: AbortSignal;
}

/** Long lists are converted several at a time. */
const shortList = 8;
const atOnce = 8;

export class ConvertedSource implements ObjectSource {
  readonly #options: ConvertedSourceOptions;
  readonly #base: ObjectSource;
  readonly #converted = new WeakMap<CachedObject, Promise<CachedObject>>();
  /** The same list gives the same array, so that what was made of it can be used again. */
  readonly #lists = new WeakMap<readonly CachedObject[], readonly CachedObject[]>();
  #following = false;

  constructor(options: ConvertedSourceOptions) {
    this.#options = options;
    this.#base = options.base;
  }

  /** Converts what changes as it changes, so that watches and cached reads find it done. */
  follow(): void {
    if (this.#following || !this.#options.foreign) return;
    this.#following = true;
    const deliver = (frames: readonly Frame[]): void => {
      for (const { type, item } of frames)
        if (type !== "DELETED") void this.#kept(item).catch(() => undefined);
    };
    const ended = (): void => void (this.#following = false);
    const { signal } = this.#options;
    this.#base
      .watch({ below: "", selector: selectEverything, from: "state", signal }, { deliver, ended })
      .catch(ended);
  }

  async get(key: string, freshness: Freshness): Promise<CachedObject | undefined> {
    const found = await this.#base.get(key, freshness);
    return found && (await this.#converterFor(freshness)(found));
  }

  async list(query: ListQuery): Promise<ListResult> {
    const result = await this.#base.list(query);
    const convert = this.#converterFor(query.freshness);
    if (convert !== this.#kept) return { ...result, items: await all(result.items, convert) };
    let items = this.#lists.get(result.items);
    if (!items) this.#lists.set(result.items, (items = await all(result.items, convert)));
    return { ...result, items };
  }

  async watch(query: WatchQuery, watcher: FrameSink): Promise<void> {
    this.follow();
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
      const objects = await all(
        frames.map(({ item }) => item),
        this.#kept,
      );
      watcher.deliver(frames.map(({ type }, i) => new Frame(type, objects[i]!)));
    } catch {
      // Who watches cannot be told which object failed; the next list tells.
      watcher.ended();
    }
  }

  #converterFor({ at }: Freshness): ConvertObject {
    this.follow();
    const cached = at === "any" || at === "notOlderThan";
    return cached || !this.#options.foreign ? this.#kept : this.#options.convert;
  }

  readonly #kept: ConvertObject = async (object) => {
    const known = this.#converted.get(object);
    if (known) return await known;
    const made = this.#options.convert(object);
    this.#converted.set(object, made);
    made.catch(() => this.#converted.delete(object));
    return await made;
  };

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

  /** Nothing that is converted can be had at once. */
  getCached(): CachedObject | undefined {
    return undefined;
  }

  listCached(): CachedObject[] {
    return [];
  }
}

async function all(
  objects: readonly CachedObject[],
  convert: ConvertObject,
): Promise<readonly CachedObject[]> {
  const made: CachedObject[] = [];
  const width = objects.length > shortList ? atOnce : 1;
  for (let from = 0; from < objects.length; from += width)
    made.push(...(await Promise.all(objects.slice(from, from + width).map(convert))));
  return made;
}
