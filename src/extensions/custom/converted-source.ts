// Objects of one version, read from where they are cached in another. What is cached here is converted once, when
// it changes; whoever asks for the newest state has it converted for themselves, unless conversion always gives the
// same. Whoever selects by labels that somebody else may have changed has objects converted first.
import type { Revision } from "#store";
import {
  type CachedObject,
  Frame,
  type FrameSink,
  type FrameType,
  type Freshness,
  type ListQuery,
  type ListResult,
  type ObjectSource,
  type WatchQuery,
  atRevision,
  picked,
} from "#watchcache";
import { type Selector, selectEverything, selector } from "#base";

/** Converts an object. Throws when it cannot be converted. */
export type ConvertObject = (object: CachedObject) => Promise<CachedObject>;

export interface ConvertedSourceOptions {
  readonly base: ObjectSource;
  readonly convert: ConvertObject;
  /** Somebody else converts, who may do it otherwise tomorrow. */
  readonly foreign: boolean;
  /** Objects may have other labels here than where they come from. */
  readonly relabels: boolean;
  /** With what all keys begin. */
  readonly prefix: string;
  /** Aborted when nobody will ask any more. */
  readonly signal: AbortSignal;
}

/** Long lists are converted several at a time. */
const shortList = 8;
const atOnce = 8;
/** So many are converted at a time, or a page of them if that is more, where they are selected afterwards. */
const leastPage = 100;

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
    if (this.#relabels(query.selector)) return await this.#selected(query);
    const result = await this.#base.list(query);
    const convert = this.#converterFor(query.freshness);
    if (convert !== this.#kept) return { ...result, items: await all(result.items, convert) };
    let items = this.#lists.get(result.items);
    if (!items) this.#lists.set(result.items, (items = await all(result.items, convert)));
    return { ...result, items };
  }

  #relabels({ labels }: Selector): boolean {
    return this.#options.relabels && labels.length > 0;
  }

  /** One page of those that match once they are converted. */
  async #selected(query: ListQuery): Promise<ListResult> {
    const { limit = Infinity } = query;
    const convert = this.#converterFor(query.freshness);
    const { limit: _limit, ...rest } = query;
    let asked: ListQuery = {
      ...rest,
      selector: withoutLabels(query.selector),
      ...(limit !== Infinity && { limit: Math.max(limit, leastPage) }),
    };
    const items: CachedObject[] = [];
    const lent: Uint8Array[] = [];
    for (;;) {
      const found = await this.#base.list(asked);
      const { revision, next } = found;
      lent.push(...(found.lent ?? []));
      const { page, more } = await picked(await all(found.items, convert), query, limit - items.length);
      items.push(...page);
      if (more || (next !== undefined && items.length === limit))
        return { revision, items, next: items.at(-1)!.key.slice(this.#options.prefix.length), lent };
      if (next === undefined) return { revision, items, lent };
      asked = { ...asked, after: next, freshness: { at: "exactly", revision } };
    }
  }

  async watch(query: WatchQuery, watcher: FrameSink): Promise<void> {
    this.follow();
    const relabels = this.#relabels(query.selector);
    const asked = relabels ? { ...query, selector: withoutLabels(query.selector) } : query;
    const pass = relabels ? this.#passSelected : this.#pass;
    let last: Promise<void> = Promise.resolve();
    const sink: FrameSink = {
      deliver: (frames) => {
        last = last.then(() => pass(frames, watcher, query));
      },
      ...(watcher.drained && { drained: () => last.then(() => watcher.drained?.()) }),
      ended: () => {
        last = last.then(() => watcher.ended());
      },
    };
    await this.#base.watch(asked, sink);
    await last;
  }

  readonly #pass: Pass = async (frames, watcher, { signal }) => {
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
  };

  /** What an object was before decides whether it comes, changes or goes for who selects. */
  readonly #passSelected: Pass = async (frames, watcher, { signal, selector: { matches } }) => {
    if (signal.aborted) return;
    try {
      const shown: Frame[] = [];
      for (const { type, item, previous } of frames) {
        const now = await this.#kept(item);
        const before = type === "MODIFIED" && previous ? await this.#kept(previous) : now;
        const seen = selectedFrame(type, now, before, matches);
        if (seen) shown.push(seen);
      }
      if (shown.length > 0) watcher.deliver(shown);
    } catch {
      watcher.ended();
    }
  };

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

type Pass = (frames: readonly Frame[], watcher: FrameSink, query: WatchQuery) => Promise<void>;

const withoutLabels = ({ fields }: Selector): Selector => selector([], fields);

function selectedFrame(
  type: FrameType,
  now: CachedObject,
  before: CachedObject,
  matches: Selector["matches"],
): Frame | undefined {
  if (type !== "MODIFIED") return type === "BOOKMARK" || matches(now) ? new Frame(type, now) : undefined;
  if (matches(now)) return new Frame(matches(before) ? "MODIFIED" : "ADDED", now);
  return matches(before) ? new Frame("DELETED", atRevision(before, now.revision)) : undefined;
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
