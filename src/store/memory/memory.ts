// The in-memory store, for tests and embedding. It can be forked and rewound.

import { type Clock, systemClock } from "#base";
import { Deadlines } from "../deadlines.ts";
import { encodedValue } from "../encoded-values.ts";
import { StoreClosed } from "../errors.ts";
import { WatchHub } from "../watch-hub.ts";
import { KeyIndex, type Version } from "../key-index.ts";
import { checkRange, checkWrite, expectationHolds, inRange } from "../key-order.ts";
import {
  type Batch,
  type Change,
  type DerivedData,
  Compacted,
  type Entry,
  FutureRevision,
  type LocalValues,
  type Outcome,
  type Page,
  type Range,
  type Revision,
  type Store,
  type StoreStatus,
  type Write,
} from "../store.ts";

/** A change as kept in memory; `before` is the revision of the version it replaced, or zero. */
interface StoredChange {
  readonly key: string;
  readonly value: Uint8Array | null;
  readonly revision: Revision;
  readonly created: Revision;
  readonly before: Revision;
}

// As in etcd, an empty store is at revision 1, so that zero can mean "before everything".
const firstRevision = 1;
const changesPerBatch = 500;

export interface MemoryOptions {
  readonly clock?: Clock;
}

export class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #feed: WatchHub;
  readonly #deadlines: Deadlines;
  #index = new KeyIndex();
  /** The change at revision `#base + i`, as long as it can still be read. */
  #changesKept: (StoredChange | undefined)[] = [];
  #base = firstRevision + 1;
  #compacted = 0;
  #bytes = 0;
  #closed = false;

  constructor(options: MemoryOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#feed = new WatchHub({
      revision: () => this.#revision(),
      compacted: () => this.#compacted,
      changes: (range, after) => this.#changes(range, after),
    });
    this.#deadlines = new Deadlines({
      clock: this.#clock,
      isCurrent: (key, revision) => this.#index.find(key)?.revision === revision,
      expire: async (due) => {
        for (const { key, revision } of due) await this.write({ key, value: null, expect: revision });
      },
    });
  }

  readonly #derived = new Map<string, Map<number, Uint8Array>>();
  readonly derived: DerivedData = {
    read: (name) =>
      [...(this.#derived.get(name) ?? [])]
        .map(([piece, bytes]) => ({ piece, bytes }))
        .sort((a, b) => a.piece - b.piece),
    write: async (name, piece, bytes) => {
      const pieces = this.#derived.getOrInsertComputed(name, () => new Map<number, Uint8Array>());
      if (bytes) pieces.set(piece, bytes);
      else pieces.delete(piece);
    },
  };

  readonly #local: LocalValues = {
    versions: (prefix, at) => this.#index.list({ prefix }, at),
    value: (revision) => this.#changesKept[revision - this.#base]?.value ?? undefined,
    values: (revisions) =>
      new Map(
        revisions.flatMap((revision) => {
          const value = this.#changesKept[revision - this.#base]?.value;
          return value ? [[revision, value] as const] : [];
        }),
      ),
    derived: this.derived,
  };

  local(): LocalValues {
    return this.#local;
  }

  async read(range: Range, at?: Revision): Promise<Page> {
    this.#check(at);
    checkRange(range);
    const revision = at ?? this.#revision();
    if ("key" in range) {
      const version = this.#index.find(range.key, at);
      return { revision, entries: version ? [this.#entry(version.revision)] : [], remaining: 0 };
    }
    const { revisions, remaining } = this.#index.list(range, at);
    return { revision, entries: revisions.map((one) => this.#entry(one)), remaining };
  }

  async write(write: Write): Promise<Outcome> {
    this.#check();
    checkWrite(write);
    const { key, value, expect, ttlSeconds } = write;
    const version = this.#index.find(key);
    const consumed = write.consumes ?? [];
    const reservationsExist = consumed.every(
      (reservation) => this.#index.find(reservation.key)?.revision === reservation.revision,
    );
    if (!reservationsExist || !expectationHolds(expect, version?.revision ?? 0))
      return { done: false, ...(version && { current: this.#entry(version.revision) }) };
    const changes = value === null && !version ? [] : [this.#put(key, encodedValue(write), version)];
    const revision = this.#revision();
    if (value && ttlSeconds) this.#deadlines.add(key, revision, this.#clock.now() + ttlSeconds * 1000);
    for (const reservation of consumed)
      changes.push(this.#put(reservation.key, null, this.#index.find(reservation.key)));
    if (changes.length > 0) this.#feed.publish(changes);
    return { done: true, revision };
  }

  #put(key: string, value: Uint8Array | null, version: Version | undefined): Change {
    const revision = this.#revision() + 1;
    const stored: StoredChange = {
      key,
      value,
      revision,
      created: version?.created ?? revision,
      before: version?.revision ?? 0,
    };
    this.#changesKept.push(stored);
    this.#bytes += sizeOf(stored);
    if (value === null) this.#index.remove(key, revision);
    else this.#index.put(key, revision, stored.created);
    return this.#change(stored);
  }

  watch(range: Range, after: Revision, signal: AbortSignal): AsyncIterable<Batch> {
    this.#check();
    checkRange(range);
    return this.#feed.watch(range, after, signal);
  }

  async progress(): Promise<Revision> {
    this.#check();
    this.#feed.mark();
    return this.#revision();
  }

  async compact(through: Revision): Promise<void> {
    this.#check();
    if (through > this.#revision()) throw new FutureRevision(through, this.#revision());
    if (through <= this.#compacted) return;
    this.#compacted = through;
    for (const dropped of this.#index.trim(through)) {
      for (const revision of dropped) {
        this.#bytes -= sizeOf(this.#changesKept[revision - this.#base]!);
        this.#changesKept[revision - this.#base] = undefined;
      }
    }
    const first = this.#changesKept.findIndex((stored) => stored !== undefined);
    const holes = first < 0 ? this.#changesKept.length : first;
    if (holes > this.#changesKept.length / 2) {
      this.#changesKept = this.#changesKept.slice(holes);
      this.#base += holes;
    }
  }

  async status(): Promise<StoreStatus> {
    this.#check();
    return {
      revision: this.#revision(),
      compacted: this.#compacted,
      keys: this.#index.size,
      bytes: this.#bytes,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#deadlines.close();
    this.#feed.close();
  }

  /**
   * Returns an independent store that shares this store's history until either is written to. Costs a few
   * words per revision kept.
   */
  fork(options: MemoryOptions = {}): MemoryStore {
    this.#check();
    const copy = new MemoryStore({ clock: options.clock ?? this.#clock });
    copy.#index = this.#index.fork();
    copy.#changesKept = [...this.#changesKept];
    copy.#base = this.#base;
    copy.#compacted = this.#compacted;
    copy.#bytes = this.#bytes;
    for (const { key, revision, at } of this.#deadlines.entries()) copy.#deadlines.add(key, revision, at);
    return copy;
  }

  /**
   * Restores every key to its state at a revision, or in another store (a fork taken earlier), by ordinary
   * writes: revisions keep increasing and watchers see each change. Restored keys have no expiry.
   */
  async rewind(to: Revision | MemoryStore): Promise<Revision> {
    const then = typeof to === "number" ? await this.read({ prefix: "" }, to) : await to.read({ prefix: "" });
    const now = await this.read({ prefix: "" });
    const wanted = new Map(then.entries.map((entry) => [entry.key, entry.value]));
    for (const { key } of now.entries)
      if (!wanted.has(key)) await this.write({ key, value: null, expect: "any" });
    const have = new Map(now.entries.map((entry) => [entry.key, entry.value]));
    for (const [key, value] of wanted)
      if (!same(have.get(key), value)) await this.write({ key, value, expect: "any" });
    return this.#revision();
  }

  #revision(): Revision {
    return this.#base + this.#changesKept.length - 1;
  }

  #check(at?: Revision): void {
    if (this.#closed) throw new StoreClosed();
    if (at === undefined) return;
    if (at > this.#revision()) throw new FutureRevision(at, this.#revision());
    if (at < this.#compacted) throw new Compacted(this.#compacted);
  }

  #entry(revision: Revision): Entry {
    const { key, value, created } = this.#changesKept[revision - this.#base]!;
    return { key, value: value!, revision, created };
  }

  #change({ key, value, revision, created, before }: StoredChange): Change {
    return { key, revision, value, created, ...(before && { previous: this.#entry(before) }) };
  }

  #changes(range: Range, after: Revision): Batch {
    const changes: Change[] = [];
    let through = after;
    while (through < this.#revision() && changes.length < changesPerBatch) {
      through++;
      // Revisions after the compacted one are all kept, so there is no hole here.
      const stored = this.#changesKept[through - this.#base];
      if (stored && inRange(range, stored.key)) changes.push(this.#change(stored));
    }
    return { changes, through };
  }
}

/** Opens an empty store in memory. */
export async function openMemory(options: MemoryOptions = {}): Promise<MemoryStore> {
  return new MemoryStore(options);
}

const sizeOf = (stored: StoredChange): number => stored.key.length + (stored.value?.length ?? 0);
const same = (a: Uint8Array | undefined, b: Uint8Array): boolean =>
  a !== undefined && Buffer.compare(a, b) === 0;
