// Serves objects in one version from the cache of another version. Cached objects are converted once, when
// they change. Reads of the latest state are converted for each request, unless conversion is deterministic.
// If conversion may change labels, objects are converted before selection by labels; selectable fields are those
// of the requested version, so selection by them always follows conversion.
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
  selectMatching,
} from "#watchcache";
import { type Selector, selectEverything, selector } from "#base";

/** Converts an object. Throws if it cannot be converted. */
export type ConvertObject = (object: CachedObject) => Promise<CachedObject>;

export interface ConvertedSourceOptions {
  readonly base: ObjectSource;
  readonly convert: ConvertObject;
  /** Conversion is external (a webhook) and may change over time. */
  readonly external: boolean;
  /** Conversion may change labels. */
  readonly changesLabels: boolean;
  /** The common prefix of all keys. */
  readonly prefix: string;
  /** Aborted when no more requests will come. */
  readonly signal: AbortSignal;
}

/** Longer lists are converted in parallel. */
const shortList = 8;
const maxParallel = 8;
/**
 * Minimum number of objects converted at a time when they are selected afterwards; a larger page size takes
 * precedence.
 */
const minPage = 100;

export class ConvertedSource implements ObjectSource {
  readonly #options: ConvertedSourceOptions;
  readonly #base: ObjectSource;
  readonly #converted = new WeakMap<CachedObject, Promise<CachedObject>>();
  /** The same source list yields the same array, so that results derived from it can be reused. */
  readonly #lists = new WeakMap<readonly CachedObject[], readonly CachedObject[]>();
  #following = false;
  /** Changed objects that are not yet being converted, by key. */
  readonly #waiting = new Map<string, CachedObject>();
  #converting = 0;

  constructor(options: ConvertedSourceOptions) {
    this.#options = options;
    this.#base = options.base;
  }

  /** Starts converting objects as they change, so that watches and cached reads find them converted. */
  follow(): void {
    if (this.#following || !this.#options.external) return;
    this.#following = true;
    const deliver = (frames: readonly Frame[]): void => {
      for (const { type, item } of frames)
        if (type === "DELETED") this.#waiting.delete(item.key);
        else if (type !== "BOOKMARK") this.#waiting.set(item.key, item);
      this.#convertWaiting();
    };
    const ended = (): void => void (this.#following = false);
    const { signal } = this.#options;
    this.#base
      .watch({ below: "", selector: selectEverything, from: "state", signal }, { deliver, ended })
      .catch(ended);
  }

  /** Converts a few objects at a time: at the beginning all objects are waiting. */
  #convertWaiting(): void {
    for (const [key, item] of this.#waiting) {
      if (this.#converting === maxParallel) return;
      this.#waiting.delete(key);
      if (this.#options.signal.aborted) continue;
      this.#converting += 1;
      const converted = (): void => {
        this.#converting -= 1;
        this.#convertWaiting();
      };
      void this.#kept(item).then(converted, converted);
    }
  }

  async get(key: string, freshness: Freshness): Promise<CachedObject | undefined> {
    const found = await this.#base.get(key, freshness);
    return found && (await this.#converterFor(freshness)(found));
  }

  async list(query: ListQuery): Promise<ListResult> {
    if (this.#selectsConverted(query.selector)) return await this.#selected(query);
    const result = await this.#base.list(query);
    const convert = this.#converterFor(query.freshness);
    if (convert !== this.#kept) return { ...result, items: await all(result.items, convert) };
    let items = this.#lists.get(result.items);
    if (!items) this.#lists.set(result.items, (items = await all(result.items, convert)));
    return { ...result, items };
  }

  /** Reports whether objects must be converted before they can be selected. */
  #selectsConverted({ labels, fields }: Selector): boolean {
    return (
      (this.#options.changesLabels && labels.length > 0) || fields.some(({ key }) => !isOfEveryKind(key))
    );
  }

  /** Returns one page of the objects that match after conversion. */
  async #selected(query: ListQuery): Promise<ListResult> {
    const { limit = Infinity } = query;
    const convert = this.#converterFor(query.freshness);
    const { limit: _limit, ...rest } = query;
    let baseQuery: ListQuery = {
      ...rest,
      selector: unconverted(query.selector),
      ...(limit !== Infinity && { limit: Math.max(limit, minPage) }),
    };
    const items: CachedObject[] = [];
    const lent: Uint8Array[] = [];
    for (;;) {
      const found = await this.#base.list(baseQuery);
      const { revision, next } = found;
      lent.push(...(found.lent ?? []));
      const { page, more } = await selectMatching(
        await all(found.items, convert),
        query,
        limit - items.length,
      );
      items.push(...page);
      if (more || (next !== undefined && items.length === limit))
        return { revision, items, next: items.at(-1)!.key.slice(this.#options.prefix.length), lent };
      if (next === undefined) return { revision, items, lent };
      baseQuery = { ...baseQuery, after: next, freshness: { at: "exactly", revision } };
    }
  }

  async watch(query: WatchQuery, watcher: FrameSink): Promise<void> {
    this.follow();
    const selects = this.#selectsConverted(query.selector);
    const baseQuery = selects ? { ...query, selector: unconverted(query.selector) } : query;
    const pass = selects ? this.#passSelected : this.#pass;
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
    await this.#base.watch(baseQuery, sink);
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
      // A watch cannot report which object failed; the next list does.
      watcher.ended();
    }
  };

  /** The previous object determines whether a selecting watcher sees an addition, a change or a removal. */
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
    return cached || !this.#options.external ? this.#kept : this.#options.convert;
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

  /** Converted objects are not available synchronously. */
  getCached(): CachedObject | undefined {
    return undefined;
  }

  listCached(): CachedObject[] {
    return [];
  }
}

type Pass = (frames: readonly Frame[], watcher: FrameSink, query: WatchQuery) => Promise<void>;

const isOfEveryKind = (field: string): boolean => field.startsWith("metadata.");

/** Returns the part of a selector that applies before conversion. */
const unconverted = ({ fields }: Selector): Selector =>
  selector(
    [],
    fields.filter(({ key }) => isOfEveryKind(key)),
  );

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
  const width = objects.length > shortList ? maxParallel : 1;
  for (let from = 0; from < objects.length; from += width)
    made.push(...(await Promise.all(objects.slice(from, from + width).map(convert))));
  return made;
}
