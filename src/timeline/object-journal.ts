// The journal of objects: watches the caches, gathers changes for a moment, and records each change for as
// long as events live, within a byte budget. Requests never wait for it.
import { type Clock, type Log, selectEverything } from "#base";
import { type CachedObject, type Frame, uidOf } from "#watchcache";
import { type ObservedChange, changeRecord, ownersOf } from "./change-record.ts";
import type { Journal, JournalFollower } from "./journal.ts";
import type { JournalBeginning, JournalFiles } from "./journal-files.ts";
import type { JournalRecord } from "./journal-record.ts";
import type { Kinds, ServedKind } from "./kinds.ts";
import type { OwnedObject } from "./owner-graph.ts";
import { type EncodedRecord, RecordList, parsedRecord } from "./record-list.ts";
import { microsOf } from "./stored-event.ts";
import type { Writers } from "./writers.ts";

export interface ObjectJournalOptions {
  readonly kinds: Kinds;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly keepMilliseconds: number;
  readonly maxBytes: number;
  /** Absent if nothing is kept across restarts. */
  readonly files?: JournalFiles | undefined;
  /** Whether field values may be written to these files. */
  readonly valuesInFiles: boolean;
  /** The users who made changes, if known. */
  readonly writers?: Writers | undefined;
}

interface Batch {
  readonly changes: readonly ObservedChange[];
  at: number;
  /** The number of changes in the batch that were compared field by field. */
  compared: number;
}

/** Maximum time spent recording before yielding to the event loop. */
const sliceMilliseconds = 4;
/**
 * How long changes are gathered before they are recorded; objects held for longer are costlier for the
 * garbage collector.
 */
const batchMilliseconds = 100;
/** Delay before records are written to disk. */
const saveMilliseconds = 1000;
/** Delay before a watch that ended is restarted. */
const rewatchMilliseconds = 100;
/** Maximum number of gathered changes; more are counted but not recorded. */
const maxPending = 20_000;
/**
 * Maximum number of changes of one batch that are compared field by field; in a larger batch, changes of one
 * object are joined first.
 */
const maxCompared = 200;

export class ObjectJournal implements Journal {
  readonly #options: ObjectJournalOptions;
  readonly #followers = new Set<JournalFollower>();
  readonly #records = new RecordList();
  #pendingChanges: ObservedChange[] = [];
  /** The batch being recorded, and the position up to which it is recorded. */
  #batch: Batch = { changes: [], at: 0, compared: 0 };
  #unsaved: EncodedRecord[] = [];
  #saving: Promise<void> = Promise.resolve();
  #timer: (() => void) | undefined;
  #saveTimer: (() => void) | undefined;
  #sequence = 0;
  #dropped = 0;
  #lastTime = 0;
  #since: number;
  #generation = 0;
  /** Revision and time of the last check for new kinds. */
  #lastKindCheck = { revision: 0, time: 0 };
  readonly #watched = new Set<ServedKind>();

  constructor(options: ObjectJournalOptions) {
    this.#options = options;
    this.#since = options.clock.now() * 1000;
  }

  get sequence(): number {
    return this.#sequence;
  }
  get dropped(): number {
    return this.#dropped;
  }
  get since(): number {
    return this.#since;
  }
  get bytes(): number {
    return this.#records.bytes;
  }

  /** Restores the records of an earlier run, and starts to watch. */
  async start(): Promise<void> {
    const { files } = this.#options;
    const restored = (await files?.read()) ?? [];
    for (const record of restored) this.#records.add(record);
    const last = restored.at(-1);
    // An earlier run may have ended before it saved any record.
    const before = last ?? (await files?.beginning());
    this.#sequence = last?.sequence ?? 0;
    this.#lastTime = last?.time ?? 0;
    if (restored[0]) this.#since = Math.min(this.#since, restored[0].time);
    this.#expire();
    const revision = restored.reduce(
      (most, record) => Math.max(most, record.revision),
      before?.revision ?? 0,
    );
    const created = new Set(restored.flatMap(({ type, uid }) => (type === "Created" ? [uid] : [])));
    const { kinds, clock } = this.#options;
    this.#generation = kinds.refresh();
    this.#lastKindCheck = { revision: kinds.revision(), time: clock.now() * 1000 };
    for (const kind of kinds.journaled()) {
      this.#watch(kind);
      if (before)
        this.#recordMissed(
          kind,
          revision,
          (item) => !created.has(uidOf(item)) && isNewerThan(item, before.time),
        );
    }
    this.settle();
    if (!before) await this.#recordStart(this.#lastKindCheck);
  }

  async #recordStart(beginning: JournalBeginning): Promise<void> {
    try {
      await this.#options.files?.begin(beginning);
    } catch (error) {
      this.#options.log.error("the object journal cannot be stored on disk", {
        error: (error as Error).message,
      });
    }
  }

  /** Records changes after a revision that were not observed: that they happened, without details. */
  #recordMissed(kind: ServedKind, revision: number, isNew: (item: CachedObject) => boolean): void {
    for (const item of kind.resource.source.listCached("")) {
      if (item.revision <= revision) continue;
      const type = isNew(item) ? "Created" : "Changed";
      this.#enqueue({ kind, type, time: this.#nextTime(), item, previous: undefined, revisions: 1 });
    }
  }

  /** Watches kinds that were defined since the last check, too, and records their objects created since. */
  #watchNewKinds(): void {
    const { kinds, clock } = this.#options;
    const generation = kinds.refresh();
    const { revision, time } = this.#lastKindCheck;
    this.#lastKindCheck = { revision: kinds.revision(), time: clock.now() * 1000 };
    if (generation === this.#generation) return;
    this.#generation = generation;
    const before = new Set(this.#watched);
    for (const kind of this.#watched) if (!kinds.has(kind)) this.#watched.delete(kind);
    for (const kind of kinds.journaled()) {
      if (before.has(kind)) continue;
      this.#watch(kind);
      this.#recordMissed(kind, revision, (item) => isNewerThan(item, time));
    }
  }

  #watch(kind: ServedKind): void {
    if (this.#watched.has(kind)) return;
    this.#watched.add(kind);
    const { source } = kind.resource;
    // Objects that have not been requested are not loaded just for the journal.
    if (source.onFirstUse) source.onFirstUse(() => this.#begin(kind));
    else this.#begin(kind);
  }

  #begin(kind: ServedKind): void {
    const { source } = kind.resource;
    const { signal, log, kinds, clock } = this.#options;
    const again = (): void => {
      this.#watchNewKinds();
      if (kinds.has(kind)) this.#watch(kind);
    };
    const ended = (): void => {
      this.#watched.delete(kind);
      if (signal.aborted || !kinds.has(kind)) return;
      // The cache was rebuilt: changes in between are unknown.
      this.#dropped++;
      // Delayed, because a resource whose definition has changed ends every watch until its kind is
      // registered again.
      const cancel = clock.after(rewatchMilliseconds, () => {
        signal.removeEventListener("abort", cancel);
        again();
      });
      signal.addEventListener("abort", cancel, { once: true });
    };
    source
      .watch(
        { below: "", selector: selectEverything, from: source.revision(), signal },
        { deliver: (frames) => this.#deliver(kind, frames), ended },
      )
      .catch((error: Error) => {
        this.#watched.delete(kind);
        log.error("changes of a resource are not recorded", {
          resource: kind.groupResource,
          error: error.message,
        });
      });
  }

  #deliver(kind: ServedKind, frames: readonly Frame[]): void {
    for (const { type, item, previous } of frames) {
      if (type === "BOOKMARK") continue;
      const change = type === "ADDED" ? "Created" : type === "DELETED" ? "Deleted" : "Changed";
      this.#enqueue({ kind, type: change, time: this.#nextTime(), item, previous, revisions: 1 });
    }
    this.#timer ??= this.#options.clock.after(batchMilliseconds, () => this.#settleSafely());
  }

  /** Records in time slices, so that pending requests are served in between. */
  #settleSafely(): void {
    try {
      this.#settleUntil(performance.now() + sliceMilliseconds);
    } catch (error) {
      this.#options.log.error("the journal of objects failed", { error: (error as Error).stack });
    }
  }

  #enqueue(change: ObservedChange): void {
    if (this.#pendingChanges.length < maxPending) this.#pendingChanges.push(change);
    else this.#dropped++;
  }

  /** Returns a unique, increasing time for a record. */
  #nextTime(): number {
    this.#lastTime = Math.max(this.#options.clock.now() * 1000, this.#lastTime + 1);
    return this.#lastTime;
  }

  settle(): void {
    this.#settleUntil(Infinity);
  }

  #settleUntil(deadline: number): void {
    this.#timer?.();
    this.#timer = undefined;
    this.#watchNewKinds();
    const { writers, clock } = this.#options;
    while (this.#nextBatch()) {
      const { changes } = this.#batch;
      while (this.#batch.at < changes.length) {
        this.#record(changes[this.#batch.at++]!);
        if (performance.now() < deadline) continue;
        this.#timer = clock.after(1, () => this.#settleSafely());
        break;
      }
      if (this.#timer) break;
    }
    if (!this.#timer) writers?.forget();
    this.#expire();
    if (this.#unsaved.length > 0) this.#saveTimer ??= clock.after(saveMilliseconds, () => this.#save());
  }

  /** Reports whether changes are left to record; makes the gathered changes the next batch if needed. */
  #nextBatch(): boolean {
    if (this.#batch.at < this.#batch.changes.length) return true;
    const pending = this.#pendingChanges;
    this.#pendingChanges = [];
    const changes = pending.length > maxCompared ? joinedChanges(pending) : pending;
    this.#batch = { changes, at: 0, compared: 0 };
    return changes.length > 0;
  }

  #record(change: ObservedChange): void {
    const details = change.type !== "Changed" || this.#batch.compared++ < maxCompared;
    const found = this.#recordOf(change, details);
    if (!found) return;
    const user = this.#options.writers?.of(found);
    const record = { sequence: ++this.#sequence, ...found, ...(user !== undefined && { user }) };
    const encoded = this.#records.add(record);
    const { files, valuesInFiles } = this.#options;
    if (files) this.#unsaved.push(valuesInFiles ? encoded : withoutValues(record, encoded));
    for (const follower of this.#followers) this.#notify(follower, record);
  }

  /**
   * Returns the record of a change. If it cannot be compared, the record has no details: no failure of the
   * journal may terminate the server.
   */
  #recordOf(change: ObservedChange, details: boolean): ReturnType<typeof changeRecord> {
    try {
      return changeRecord(change, details);
    } catch (error) {
      const { kind, item } = change;
      this.#options.log.error("a change cannot be compared", {
        resource: kind.groupResource,
        object: `${item.namespace}/${item.name}`,
        error: (error as Error).message,
      });
      return changeRecord(change, false);
    }
  }

  #notify(follower: JournalFollower, record: JournalRecord): void {
    const { group, kind, namespace, name, uid, owners } = record;
    if (owners) follower.owners({ group, kind, namespace, name, uid, owners });
    follower.added(record);
  }

  #notifyRemoved(record: JournalRecord): void {
    for (const follower of this.#followers) {
      follower.removed(record);
      if (record.type === "Deleted") follower.forgotten(record.uid);
    }
  }

  #expire(): void {
    const { clock, keepMilliseconds, maxBytes } = this.#options;
    const oldest = (clock.now() - keepMilliseconds) * 1000;
    for (let first = this.#records.oldest; first; first = this.#records.oldest) {
      const early = first.time >= oldest;
      if (early && this.#records.bytes <= maxBytes) break;
      this.#records.removeOldest();
      if (early) {
        this.#dropped++;
        this.#since = first.time + 1;
      }
      if (this.#followers.size > 0) this.#notifyRemoved(parsedRecord(first));
    }
    this.#since = Math.max(this.#since, oldest);
  }

  #save(): void {
    this.#saveTimer?.();
    this.#saveTimer = undefined;
    const { files, log } = this.#options;
    if (!files || this.#unsaved.length === 0) return;
    const records = this.#unsaved;
    const first = this.#records.oldest?.sequence ?? this.#sequence;
    this.#unsaved = [];
    this.#saving = this.#saving
      .then(() => files.append(records))
      .then(() => files.forgetBefore(first))
      .catch((error: Error) =>
        log.error("object changes cannot be stored on disk; they are kept in memory only", {
          error: error.message,
        }),
      );
  }

  follow(follower: JournalFollower, signal: AbortSignal): Iterable<JournalRecord> {
    this.settle();
    this.#followers.add(follower);
    signal.addEventListener("abort", () => this.#followers.delete(follower), { once: true });
    return this.#records.all();
  }

  /** Yields live objects and their owners. */
  *owned(): Generator<OwnedObject | undefined> {
    for (const kind of this.#watched)
      for (const item of kind.resource.source.listCached("")) {
        const owners = ownersOf(item);
        const { namespace, name } = item;
        yield owners.length === 0
          ? undefined
          : { group: kind.group, kind: kind.kind, namespace, name, uid: uidOf(item), owners };
      }
  }

  after(sequence: number): Iterable<JournalRecord> | undefined {
    this.settle();
    const first = this.#records.oldest?.sequence ?? this.#sequence + 1;
    if (sequence < first - 1 || sequence > this.#sequence) return undefined;
    return this.#records.all(sequence - first + 1);
  }

  /** Saves the gathered changes and closes the files. */
  async stop(): Promise<void> {
    this.settle();
    this.#save();
    await this.#saving;
    await this.#options.files?.close();
  }
}

/**
 * Joins consecutive changes of one object into one, from the state before the first to the state after the
 * last.
 */
function joinedChanges(changes: readonly ObservedChange[]): readonly ObservedChange[] {
  const joined: ObservedChange[] = [];
  const last = new Map<string, number>();
  for (const change of changes) {
    const at = last.get(change.item.key);
    const before = at === undefined ? undefined : joined[at];
    if (before?.type === "Changed" && change.type === "Changed")
      joined[at!] = { ...change, previous: before.previous, revisions: before.revisions + change.revisions };
    else last.set(change.item.key, joined.push(change) - 1);
  }
  return joined.sort((a, b) => a.time - b.time);
}

const quote = 0x22;
const createdKey = Buffer.from('"creationTimestamp":"');

/**
 * Reports whether the object was created at that time or later, in whole seconds. This is called for every
 * object at startup, so nothing is parsed: the creation time precedes all user-defined names in the metadata.
 */
function isNewerThan({ json }: CachedObject, micros: number): boolean {
  const at = json.indexOf(createdKey);
  const from = at + createdKey.length;
  const created = at < 0 ? undefined : json.toString("latin1", from, json.indexOf(quote, from));
  return (microsOf(created) ?? 0) >= Math.floor(micros / 1e6) * 1e6;
}

/** Returns the encoded record without field values. */
function withoutValues(record: JournalRecord, encoded: EncodedRecord): EncodedRecord {
  if (!record.fields) return encoded;
  const fields = record.fields.map(({ path, op }) => ({ path, op, withheld: true }));
  return { ...encoded, text: JSON.stringify({ ...record, fields }) };
}
