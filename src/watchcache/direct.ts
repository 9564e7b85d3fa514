// "Cache off": the same reading interface, straight from the store.
import { SortedMap } from "#base";
import type { Revision, Store } from "#store";
import { Change, Frame } from "./frame.ts";
import { type Held, heldAt } from "./held.ts";
import { type Reader, pageOf } from "./resource-cache.ts";
import type { Freshness, ListQuery, Listing, ObjectSource, WatchQuery, Watcher } from "./source.ts";

export class DirectSource implements ObjectSource {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #read: Reader;
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

  lastChange(): Revision {
    return this.#seen;
  }

  peek(): Held | undefined {
    return undefined;
  }

  peekAll(): Held[] {
    return [];
  }

  async get(key: string, freshness: Freshness): Promise<Held | undefined> {
    const page = await this.#store.read({ key: this.#prefix + key }, freshness.at === "exactly" ? freshness.revision : undefined);
    const entry = page.entries[0];
    return entry && this.#read(entry);
  }

  async list(query: ListQuery): Promise<Listing> {
    const at = query.freshness.at === "exactly" ? query.freshness.revision : undefined;
    const page = await this.#store.read({ prefix: this.#prefix + query.below }, at);
    this.#seen = Math.max(this.#seen, page.revision);
    const items = new SortedMap<Held>();
    for (const entry of page.entries) items.set(entry.key, this.#read(entry));
    return pageOf(items, this.#prefix, query, page.revision);
  }

  async watch(query: WatchQuery, watcher: Watcher): Promise<void> {
    const prefix = this.#prefix + query.below;
    const sees = (item: Held): boolean => query.selector.matches(item);
    let from = query.from === "now" ? await this.#store.progress() : query.from;
    if (from === "state") {
      const page = await this.#store.read({ prefix });
      from = page.revision;
      const first = page.entries.map(this.#read).filter(sees);
      if (first.length > 0) watcher.deliver(first.map((item) => new Frame("ADDED", item)));
    }
    void this.#follow(prefix, from, sees, query.signal, watcher);
  }

  async #follow(prefix: string, from: Revision, sees: (item: Held) => boolean, signal: AbortSignal, watcher: Watcher): Promise<void> {
    try {
      for await (const batch of this.#store.watch({ prefix }, from, signal)) {
        const frames = batch.changes.flatMap((stored) => {
          const previous = stored.previous && this.#read(stored.previous);
          if (stored.value === null && !previous) return [];
          const change =
            stored.value === null
              ? new Change(stored.revision, heldAt(previous!, stored.revision), previous, true)
              : new Change(stored.revision, this.#read({ ...stored, value: stored.value }), previous, false);
          return change.frameFor(sees) ?? [];
        });
        if (frames.length > 0) watcher.deliver(frames);
        watcher.progressed?.(batch.through);
      }
    } catch {
      watcher.ended();
    }
  }
}
