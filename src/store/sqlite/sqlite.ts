// The embedded store: one SQLite file. The event loop holds the key index and the newest changes and reads
// values by revision; a writer thread commits in batches. Acknowledged writes are on disk.

import { closeSync, fsyncSync, openSync } from "node:fs";
import { type Clock, makeFolder, systemClock } from "#base";
import { Deadlines, type Due } from "../deadlines.ts";
import { StoreClosed, StoreDamaged, StoreFailed, StoreFull } from "../errors.ts";
import { WatchHub } from "../watch-hub.ts";
import { KeyIndex, type Listing, type Version } from "../key-index.ts";
import { checkRange, checkWrite, inRange } from "../key-order.ts";
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
  type BufferCallback,
  type Revision,
  type Store,
  type StoreStatus,
  type Write,
} from "../store.ts";
import type { Decided } from "./batch.ts";
import { acknowledgedFile, readAcknowledged } from "./acknowledged.ts";
import { checkInBackground } from "./background-check.ts";
import { Commits } from "./commits.ts";
import { checkpointFits, firstRevision, createPrivateFile, isFull, pageBytes, storeFile } from "./files.ts";
import { lockStore } from "./lock.ts";
import { damageOf, Reader, type UncheckedRow } from "./reader.ts";
import { RecentChanges } from "./recent-changes.ts";
import { LazyEntry, type ReadValue } from "./lazy-entry.ts";
import { JobFailed, WriterThread } from "./writer-thread.ts";

export interface SqliteOptions {
  /** The directory of the store's files; created if absent. */
  readonly dir: string;
  readonly clock?: Clock;
  /** Memory budget for the newest changes. */
  readonly recentBytes?: number;
  /** Maximum size of the database; writes beyond it fail. */
  readonly maxBytes?: number;
  /** Databases up to this size are checked for damage before they are opened, larger ones afterwards. */
  readonly maxBytesCheckedAtOpen?: number;
  /** Delay of that later check, so that it does not compete with the start for the disk. */
  readonly checkAfterMilliseconds?: number;
  /** Called once if a database in use turns out to be damaged. From then on it accepts no writes. */
  readonly damaged?: (error: StoreDamaged) => void;
}

/** Watchers receive changes as they are committed; the budget serves those that fall behind briefly. */
const defaultRecentBytes = 2 << 20;
const syncReadLimit = 64;
const readChunk = 256;
const rowsPerChunk = 1000;
const changesPerBatch = 500;
const bytesPerBatch = 4 << 20;
const loadChunk = 5000;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class SqliteStore implements Store {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #reader: Reader;
  readonly #thread: WriterThread;
  readonly #unlock: () => void;
  readonly #recent: RecentChanges;
  readonly #index = new KeyIndex();
  readonly #commits: Commits;
  readonly #feed: WatchHub;
  readonly #deadlines: Deadlines;
  #revision: Revision = firstRevision;
  #compacted: Revision = 0;
  #compacting: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #damage: StoreDamaged | undefined;
  #stopCheck: (() => Promise<void>) | undefined;

  constructor(options: SqliteOptions, reader: Reader, thread: WriterThread, unlock: () => void) {
    this.#dir = options.dir;
    this.#clock = options.clock ?? systemClock;
    this.#reader = reader;
    this.#thread = thread;
    this.#unlock = unlock;
    this.#recent = new RecentChanges(options.recentBytes ?? defaultRecentBytes);
    this.#commits = new Commits({
      thread,
      revision: () => this.#revision,
      find: (key) => this.#find(key),
      apply: (decided) => this.#apply(decided),
      fault: (error) => faultError(this.#dir, error),
    });
    this.#feed = new WatchHub({
      revision: () => this.#revision,
      compacted: () => this.#compacted,
      changes: (range, after) => this.#changes(range, after),
    });
    this.#deadlines = new Deadlines({
      clock: this.#clock,
      isCurrent: (key, revision) => this.#index.find(key)?.revision === revision,
      expire: (due) => this.#expire(due),
    });
  }

  /** Loads the log into the index, and deletes what a compaction before a crash left behind. */
  async load(checked: boolean): Promise<void> {
    this.#compacted = this.#reader.compacted();
    let newest = Math.max(firstRevision, this.#compacted);
    let behind = 0;
    const next = checked
      ? (after: Revision) =>
          this.#reader
            .log(after, Infinity, loadChunk)
            .map(({ revision, key, created, expires }): UncheckedRow => [revision, key, created, expires])
      : (after: Revision) => this.#reader.uncheckedLog(after, loadChunk);
    // The cursor is separate from `newest`: the compacted revision may be far beyond the rows read so far.
    for (let rows = next(0), last = 0; rows.length; rows = next(last)) {
      for (const [revision, key, created, expires] of rows) {
        if (created > 0) this.#index.put(key, revision, created);
        else if (this.#index.find(key)) this.#index.remove(key, revision);
        if (created > 0 && expires) this.#deadlines.restore(key, revision, expires);
        if (revision > this.#compacted) behind++;
      }
      last = rows.at(-1)![0];
      newest = Math.max(newest, last);
      await nextTurn();
    }
    const expected = newest - Math.max(this.#compacted, firstRevision);
    if (behind !== expected)
      throw new StoreDamaged(
        storeFile(this.#dir),
        `only ${behind} of ${expected} changes since the last compaction are present`,
      );
    const acknowledged = readAcknowledged(acknowledgedFile(this.#dir));
    if (newest < acknowledged)
      throw new StoreDamaged(
        storeFile(this.#dir),
        `writes up to revision ${acknowledged} were acknowledged, but it ends at revision ${newest} (to continue without them, remove ${acknowledgedFile(this.#dir)})`,
      );
    this.#revision = newest;
    const leftovers: Revision[] = [];
    for (const dropped of this.#index.trim(this.#compacted)) leftovers.push(...dropped);
    this.#commits.deleteRows(leftovers).catch(() => undefined);
    this.#deadlines.start();
  }

  /** Checks for damage that reads do not detect, such as in the list of free pages. */
  startCheck({ damaged, checkAfterMilliseconds = 10_000 }: SqliteOptions): void {
    const cancel = this.#clock.after(checkAfterMilliseconds, () => {
      this.#stopCheck = checkInBackground(storeFile(this.#dir), (error) => {
        this.#damage = error;
        damaged?.(error);
      });
    });
    this.#stopCheck = async () => cancel();
  }

  readonly derived: DerivedData = {
    read: (name) => this.#reader.derived(name),
    write: (name, piece, bytes) => this.#commits.putDerived({ name, piece, bytes }),
  };

  /** Synchronous access to keys and values. */
  readonly #local: LocalValues = {
    versions: (prefix, at) => this.#index.list({ prefix }, at),
    value: (revision) => this.#value(revision),
    values: (revisions, onBuffer) => this.#values(revisions, onBuffer),
    derived: this.derived,
  };

  local(): LocalValues {
    return this.#local;
  }

  async read(range: Range, at?: Revision): Promise<Page> {
    this.#check(at);
    checkRange(range);
    for (;;) {
      const revision = at ?? this.#revision;
      const listing = this.#list(range, at);
      const entries = await this.#entries(listing);
      if (entries) return { revision, entries, remaining: listing.remaining };
      // A compaction removed versions during the read: the newest state can be read again, the past cannot.
      if (at !== undefined) throw new Compacted(this.#compacted);
    }
  }

  async write(write: Write): Promise<Outcome> {
    this.#check();
    if (this.#damage) throw this.#damage;
    checkWrite(write);
    const expires = write.ttlSeconds ? Math.ceil(this.#clock.now() + write.ttlSeconds * 1000) : 0;
    return new Promise((resolve, reject) =>
      this.#commits.add({ write, value: write.value, expires, resolve, reject }),
    );
  }

  /**
   * Deletes expired keys that have not changed since. Their previous values are read lazily, since they are
   * rarely needed.
   */
  async #expire(due: readonly Due[]): Promise<void> {
    this.#check();
    if (this.#damage) throw this.#damage;
    await this.#commits.expire(due);
  }

  watch(range: Range, after: Revision, signal: AbortSignal): AsyncIterable<Batch> {
    this.#check();
    checkRange(range);
    return this.#feed.watch(range, after, signal);
  }

  async progress(): Promise<Revision> {
    this.#check();
    if (this.#damage) throw this.#damage;
    this.#feed.mark();
    return this.#revision;
  }

  async compact(through: Revision): Promise<void> {
    this.#check();
    if (through > this.#revision) throw new FutureRevision(through, this.#revision);
    const compaction = this.#compacting.then(() => this.#compact(through));
    this.#compacting = compaction.catch(() => undefined);
    return compaction;
  }

  async status(): Promise<StoreStatus> {
    this.#check();
    return {
      revision: this.#revision,
      compacted: this.#compacted,
      keys: this.#index.size,
      bytes: this.#reader.bytes(),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#deadlines.close();
    this.#feed.close();
    await this.#stopCheck?.();
    await this.#commits.close();
    await this.#compacting;
    await closeConnections(storeFile(this.#dir), this.#reader, this.#thread);
    this.#unlock();
  }

  #check(at?: Revision): void {
    if (this.#closing) throw new StoreClosed();
    if (at === undefined) return;
    if (at > this.#revision) throw new FutureRevision(at, this.#revision);
    if (at < this.#compacted) throw new Compacted(this.#compacted);
  }

  async #compact(through: Revision): Promise<void> {
    if (through <= this.#compacted) return;
    await this.#commits.setCompacted(through);
    this.#compacted = through;
    let rowsDeleted = Promise.resolve();
    for (const dropped of this.#index.trim(through)) {
      rowsDeleted = this.#commits.deleteRows(dropped);
      rowsDeleted.catch(() => undefined);
      await nextTurn();
    }
    await rowsDeleted;
  }

  #apply(decided: readonly Decided[]): void {
    const changes: Change[] = [];
    for (const { change, expires } of decided) {
      const { key, revision, value, created } = change;
      if (value) this.#index.put(key, revision, created);
      else this.#index.remove(key, revision);
      if (expires) this.#deadlines.add(key, revision, expires);
      this.#revision = revision;
      changes.push(change);
    }
    this.#recent.push(changes);
    this.#feed.publish(changes);
  }

  #find(key: string): Entry | undefined {
    const version = this.#index.find(key);
    return version && new LazyEntry(key, version, this.#valueOf);
  }

  readonly #valueOf: ReadValue = (key, version) => this.#entry(key, version).value;

  #entry(key: string, { revision, created }: Version): Entry {
    const value = this.#value(revision);
    if (!value)
      throw new StoreDamaged(
        storeFile(this.#dir),
        `the value of ${JSON.stringify(key)} written at revision ${revision} is missing`,
      );
    return { key, value, revision, created };
  }

  #value(revision: Revision): Uint8Array | undefined {
    return this.#recent.get(revision)?.value ?? this.#reader.value(revision);
  }

  #list(range: Range, at: Revision | undefined): Listing {
    if (!("key" in range)) return this.#index.list(range, at);
    const version = this.#index.find(range.key, at);
    if (!version) return { keys: [], revisions: [], created: [], remaining: 0 };
    return { keys: [range.key], revisions: [version.revision], created: [version.created], remaining: 0 };
  }

  /**
   * Returns the listing with its values, or undefined if a compaction removed some of them during the read.
   */
  async #entries({ keys, revisions, created }: Listing): Promise<Entry[] | undefined> {
    if (keys.length <= syncReadLimit)
      return keys.map((key, i) => this.#entry(key, { revision: revisions[i]!, created: created[i]! }));
    // In the order of the rows on disk, one chunk per turn of the loop.
    const order = orderOf(revisions);
    const entries = Array.from<Entry>({ length: keys.length });
    for (let from = 0; from < order.length; from += readChunk) {
      await nextTurn();
      if (this.#closing) throw new StoreClosed();
      const chunk = order.subarray(from, from + readChunk);
      const values = this.#values(Array.from(chunk, (i) => revisions[i]!));
      for (const i of chunk) {
        const value = values.get(revisions[i]!);
        if (value) entries[i] = { key: keys[i]!, value, revision: revisions[i]!, created: created[i]! };
        else if (this.#index.find(keys[i]!)?.revision !== revisions[i]) return undefined;
        else
          throw new StoreDamaged(
            storeFile(this.#dir),
            `the value of ${JSON.stringify(keys[i])} written at revision ${revisions[i]} is missing`,
          );
      }
    }
    return entries;
  }

  #values(revisions: readonly Revision[], onBuffer?: BufferCallback): Map<Revision, Uint8Array> {
    const values = new Map<Revision, Uint8Array>();
    const onDisk: Revision[] = [];
    for (const revision of revisions) {
      const value = this.#recent.get(revision)?.value;
      if (value) values.set(revision, value);
      else onDisk.push(revision);
    }
    for (const [revision, value] of onDisk.length ? this.#reader.values(onDisk, onBuffer) : [])
      values.set(revision, value);
    return values;
  }

  async #changes(range: Range, after: Revision): Promise<Batch> {
    const first = this.#recent.first;
    if (first !== undefined && after + 1 >= first) {
      const changes: Change[] = [];
      let through = after;
      while (through < this.#revision && changes.length < changesPerBatch) {
        const change = this.#recent.get(++through)!;
        if (inRange(range, change.key)) changes.push(change);
      }
      return { changes, through };
    }
    return this.#changesOnDisk(range, Math.max(after, firstRevision));
  }

  async #changesOnDisk(range: Range, after: Revision): Promise<Batch> {
    const rows = this.#reader.log(after, this.#revision, rowsPerChunk);
    const changes: Change[] = [];
    let through = after;
    let bytes = 0;
    for (const row of rows) {
      if (row.revision !== through + 1)
        throw new StoreDamaged(storeFile(this.#dir), `the change at revision ${through + 1} is missing`);
      through = row.revision;
      if (!inRange(range, row.key)) continue;
      const created = Math.abs(row.created);
      const value = row.created > 0 ? this.#entry(row.key, { revision: row.revision, created }).value : null;
      const previous = row.before ? this.#entry(row.key, { revision: row.before, created }) : undefined;
      changes.push({ key: row.key, revision: row.revision, value, created, ...(previous && { previous }) });
      bytes += (value?.length ?? 0) + (previous?.value.length ?? 0);
      if (bytes > bytesPerBatch || changes.length >= changesPerBatch) break;
    }
    // Catching up takes many chunks: yield to the event loop between them.
    await nextTurn();
    return { changes, through };
  }
}

/** Opens the store in a directory, creating it if absent. Throws StoreLocked, StoreDamaged, StoreFull. */
export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const { dir } = options;
  const file = storeFile(dir);
  const checkedBytes = options.maxBytesCheckedAtOpen ?? 64 << 20;
  makeFolder(dir);
  const unlock = lockStore(dir);
  let thread: WriterThread | undefined;
  let reader: Reader | undefined;
  try {
    // Created here so that this file, and those SQLite creates next to it, are readable by their owner only.
    createPrivateFile(file);
    thread = await WriterThread.start({
      file,
      maxPages: options.maxBytes ? Math.max(16, Math.floor(options.maxBytes / pageBytes)) : 0,
      maxPagesChecked: Math.floor(checkedBytes / pageBytes),
    });
    flushDirectory(dir);
    reader = new Reader(file);
    const store = new SqliteStore(options, reader, thread, unlock);
    const checked = reader.bytes() <= checkedBytes;
    await store.load(checked);
    if (!checked) store.startCheck(options);
    return store;
  } catch (error) {
    if (thread && reader) await closeConnections(file, reader, thread);
    else await thread?.close();
    unlock();
    throw error instanceof JobFailed ? faultError(dir, error) : (damageOf(file, error) ?? error);
  }
}

/**
 * Closes both connections. The last one to close checkpoints the log, if it can write. If the log does not fit,
 * that must be the reader.
 */
async function closeConnections(file: string, reader: Reader, thread: WriterThread): Promise<void> {
  let fits = false;
  try {
    fits = checkpointFits(file, reader.bytes());
  } catch {
    // A damaged database is left as it is.
  }
  if (fits) reader.close();
  await thread.close();
  if (!fits) reader.close();
}

/**
 * Returns the indices of `revisions` in ascending order of revision. Sorting plain numbers is much faster
 * than with a comparison function, so revision and index are combined into one number.
 */
function orderOf(revisions: readonly Revision[]): Float64Array {
  const count = revisions.length;
  const largest = revisions.reduce((most, revision) => Math.max(most, revision), 0);
  if (largest * count > Number.MAX_SAFE_INTEGER / 2)
    return Float64Array.from(revisions.keys()).sort((a, b) => revisions[a]! - revisions[b]!);
  const order = new Float64Array(count);
  for (let i = 0; i < count; i++) order[i] = revisions[i]! * count + i;
  order.sort();
  for (let i = 0; i < count; i++) order[i] = order[i]! % count;
  return order;
}

function flushDirectory(dir: string): void {
  const handle = openSync(dir, "r");
  fsyncSync(handle);
  closeSync(handle);
}

function faultError(dir: string, { fault }: JobFailed): Error {
  if (isFull(fault)) return new StoreFull(dir, fault.message);
  return (
    damageOf(storeFile(dir), { errcode: fault.code, message: fault.message }) ??
    new StoreFailed(dir, fault.message)
  );
}
