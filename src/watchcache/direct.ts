// The uncached implementation of ObjectSource: reads from the store directly.
import type { Batch, Revision, Change as StoreChange, Store } from "#store";
import { Change, Frame } from "./frame.ts";
import type { CachedObject } from "./cached-object.ts";
import { pageFromStore } from "./page.ts";
import type { Reader } from "./resource-cache.ts";
import {
  type Freshness,
  type ListQuery,
  type ListResult,
  RevisionTimeout,
  type ObjectSource,
  type WatchQuery,
  type FrameSink,
} from "./source.ts";

/** Progress of a watch. */
interface Following {
  through: Revision;
}

const partFrames = 256;

export class DirectSource implements ObjectSource {
  readonly direct = true;
  readonly #store: Store;
  readonly #prefix: string;
  readonly #read: Reader;
  readonly #following = new Set<Following>();
  #seen: Revision = 0;

  constructor(store: Store, prefix: string, read: Reader) {
    this.#store = store;
    this.#prefix = prefix;
    this.#read = read;
  }

  revision(): Revision {
    return this.#seen;
  }

  count(): number {
    return 0;
  }

  /**
   * Returns the revision up to which all watches have been served: a bookmark beyond it would let a client
   * miss changes.
   */
  lastChange(): Revision {
    let least = Infinity;
    for (const { through } of this.#following) least = Math.min(least, through);
    return least === Infinity ? 0 : least;
  }

  changeCount(): number {
    return this.#seen;
  }

  getCached(): CachedObject | undefined {
    return undefined;
  }

  listCached(): CachedObject[] {
    return [];
  }

  async get(key: string, freshness: Freshness): Promise<CachedObject | undefined> {
    const page = await this.#store.read(
      { key: this.#prefix + key },
      freshness.at === "exactly" ? freshness.revision : undefined,
    );
    checkArrived(freshness, page.revision);
    const entry = page.entries[0];
    return entry && this.#read(entry);
  }

  async list(query: ListQuery): Promise<ListResult> {
    const { freshness } = query;
    const listing = await pageFromStore(
      this.#store,
      this.#prefix,
      this.#read,
      query,
      freshness.at === "exactly" ? freshness.revision : undefined,
    );
    checkArrived(freshness, listing.revision);
    this.#saw(listing.revision);
    return listing;
  }

  async watch(query: WatchQuery, watcher: FrameSink): Promise<void> {
    const { below, selector, signal } = query;
    const now = await this.#store.progress();
    let from = query.from === "now" ? now : query.from;
    if (from === "state") {
      const { items, revision } = await pageFromStore(this.#store, this.#prefix, this.#read, {
        below,
        selector,
      });
      for (let at = 0; at < items.length && !signal.aborted; at += partFrames) {
        watcher.deliver(items.slice(at, at + partFrames).map((item) => new Frame("ADDED", item)));
        if (at + partFrames < items.length) await watcher.drained?.();
      }
      from = revision;
      this.#saw(revision);
    }
    if (signal.aborted) return;
    const batches = this.#store.watch({ prefix: this.#prefix + below }, from, signal)[Symbol.asyncIterator]();
    const first = batches.next();
    // A compacted start revision is reported by the first step; if the start revision lies ahead, that step
    // may block for long.
    if (from < now) {
      this.#store.progress().catch(() => undefined);
      await first;
    }
    void this.#follow(first, batches, from, query, watcher);
  }

  async #follow(
    first: Promise<IteratorResult<Batch>>,
    batches: AsyncIterator<Batch>,
    from: Revision,
    { selector, signal }: WatchQuery,
    watcher: FrameSink,
  ): Promise<void> {
    const following: Following = { through: from };
    this.#following.add(following);
    try {
      for (let step = await first; !step.done && !signal.aborted; step = await batches.next()) {
        const frames = step.value.changes.flatMap(
          (stored) => this.#change(stored)?.frameFor((item) => selector.matches(item)) ?? [],
        );
        if (frames.length > 0) watcher.deliver(frames);
        following.through = Math.max(following.through, step.value.through);
        this.#saw(step.value.through);
      }
      if (!signal.aborted) watcher.ended();
    } catch {
      if (!signal.aborted) watcher.ended();
    } finally {
      this.#following.delete(following);
    }
  }

  #saw(revision: Revision): void {
    this.#seen = Math.max(this.#seen, revision);
  }

  #change(stored: StoreChange): Change | undefined {
    const previous = stored.previous && this.#read(stored.previous);
    if (stored.value !== null)
      return new Change(stored.revision, this.#read({ ...stored, value: stored.value }), previous, false);
    return previous && new Change(stored.revision, previous, previous, true);
  }
}

function checkArrived(freshness: Freshness, revision: Revision): void {
  if (freshness.at === "notOlderThan" && freshness.revision > revision)
    throw new RevisionTimeout(freshness.revision, revision);
}
