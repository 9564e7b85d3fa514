// Group commit: writes that arrive while the disk is busy share the next flush. One job at a time is in
// flight, and housekeeping is added to jobs in small pieces, so that neither delays the other for long.

import type { Due } from "../deadlines.ts";
import { StoreBusy, StoreClosed } from "../errors.ts";
import type { Revision } from "../store.ts";
import { type CurrentEntry, type Decided, type Pending, decide, encode, jobOf } from "./batch.ts";
import { isFull } from "./files.ts";
import type { DerivedPiece, Pages } from "./job.ts";
import { type WriterThread, JobFailed } from "./writer-thread.ts";

const writesPerJob = 1024;
const bytesPerJob = 8 << 20;
const maxQueuedBytes = 256 << 20;
const maxQueuedWrites = 100_000;
const rowsDeletedWithWrites = 64;
const rowsDeletedAlone = 512;
const derivedPerJob = 1;
const vacuumPagesAlone = 256;
// Free pages are returned to the file system if there are more than this many and they make up this share of
// the file.
const freePagesKept = 512;
const freeShareKept = 0.25;

export interface CommitsOptions {
  readonly thread: WriterThread;
  readonly find: CurrentEntry;
  revision(): Revision;
  /** Applies changes that are on disk to the in-memory state. */
  apply(decided: readonly Decided[]): void;
  /** Converts a failed job to the error reported to its writers. */
  fault(error: JobFailed): Error;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Commits {
  readonly #options: CommitsOptions;
  #queue: Pending[] = [];
  #queuedBytes = 0;
  /** Entries before `#forgotFirst` are done; removing them from the array each time would move all others. */
  #rowsToDelete: Revision[] = [];
  #rowsDeleted = 0;
  #deletionWaiters: Waiter[] = [];
  #derived: (DerivedPiece & Waiter)[] = [];
  readonly #expiring: ({ readonly due: readonly Due[] } & Waiter)[] = [];
  #compacted: ({ readonly through: Revision } & Waiter) | undefined;
  #pages: Pages = { pages: 0, freePages: 0 };
  #running = false;
  #scheduled = false;
  #closing = false;
  #idle: (() => void)[] = [];

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  /** Queues a write; it is settled when its batch is on disk. */
  add(pending: Pending): void {
    const size = sizeOf(pending);
    if (this.#closing) pending.reject(new StoreClosed());
    else if (this.#queue.length >= maxQueuedWrites || this.#queuedBytes + size > maxQueuedBytes)
      pending.reject(new StoreBusy(this.#queue.length));
    else {
      this.#queue.push(pending);
      this.#queuedBytes += size;
      this.#schedule();
    }
  }

  /** Deletes keys that still have the revision they expired with; resolves once that is on disk. */
  expire(due: readonly Due[]): Promise<void> {
    if (this.#closing) return Promise.reject(new StoreClosed());
    return new Promise((resolve, reject) => {
      this.#expiring.push({ due, resolve, reject });
      this.#schedule();
    });
  }

  /** Durably records how far history is compacted. One call at a time. */
  setCompacted(through: Revision): Promise<void> {
    if (this.#closing) return Promise.reject(new StoreClosed());
    return new Promise((resolve, reject) => {
      this.#compacted = { through, resolve, reject };
      this.#schedule();
    });
  }

  /** Deletes rows incrementally; resolves once all queued rows are deleted. */
  deleteRows(revisions: readonly Revision[]): Promise<void> {
    if (this.#closing) return Promise.reject(new StoreClosed());
    for (const revision of revisions) this.#rowsToDelete.push(revision);
    if (this.#rowsToDelete.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#deletionWaiters.push({ resolve, reject });
      this.#schedule();
    });
  }

  /** Replaces a piece of derived data; resolves once it is on disk. */
  putDerived(piece: DerivedPiece): Promise<void> {
    if (this.#closing) return Promise.reject(new StoreClosed());
    return new Promise((resolve, reject) => {
      this.#derived.push({ ...piece, resolve, reject });
      this.#schedule();
    });
  }

  /** Accepts no more writes and resolves once the queued ones are settled. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#running || this.#queue.length)
      await new Promise<void>((resolve) => void this.#idle.push(resolve));
    // Housekeeping can wait: the rest is found again when the store is opened.
    for (const waiter of this.#deletionWaiters.splice(0)) waiter.reject(new StoreClosed());
    this.#compacted?.reject(new StoreClosed());
    for (const piece of this.#derived.splice(0)) piece.reject(new StoreClosed());
    for (const waiter of this.#expiring.splice(0)) waiter.reject(new StoreClosed());
  }

  // Deferred to the next turn of the loop: all writes of this turn, and those triggered by finished writes,
  // share a job.
  #schedule(): void {
    if (this.#running || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    if (this.#closing && this.#queue.length === 0) return;
    this.#running = true;
    await this.#oneJob();
    this.#running = false;
    if (this.#queue.length || (!this.#closing && this.#hasHousekeeping())) this.#schedule();
    else for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #oneJob(writes = encode(this.#take())): Promise<void> {
    const { thread, find, revision, apply, fault } = this.#options;
    const expiring = this.#expiring.shift();
    const { decided, outcomes } = decide(writes, revision(), find, expiring?.due);
    const compacted = this.#compacted;
    const derived = this.#derived.splice(0, derivedPerJob);
    const deletedRevisions = this.#rowsToDelete.slice(
      this.#rowsDeleted,
      this.#rowsDeleted + (decided.length ? rowsDeletedWithWrites : rowsDeletedAlone),
    );
    const hasHousekeeping = deletedRevisions.length > 0 || derived.length > 0 || compacted !== undefined;
    const vacuumPages = decided.length || hasHousekeeping || !this.#shouldVacuum() ? 0 : vacuumPagesAlone;
    const housekeeping = (hasHousekeeping || vacuumPages > 0) && {
      deletedRevisions,
      vacuumPages,
      derived: derived.map(({ name, piece, bytes }) => ({ name, piece, bytes })),
      ...(compacted && { compacted: compacted.through }),
    };
    this.#compacted = undefined;
    try {
      if (decided.length || housekeeping) {
        const pages = await thread.run(jobOf(decided, housekeeping || undefined));
        // Vacuuming that frees nothing must not be repeated forever.
        if (pages)
          this.#pages =
            vacuumPages && pages.freePages >= this.#pages.freePages
              ? { pages: pages.pages, freePages: 0 }
              : pages;
      }
      if (decided.length) apply(decided);
      this.#markDeleted(deletedRevisions.length);
      for (const { pending, outcome } of outcomes) pending.resolve(outcome);
      expiring?.resolve();
      compacted?.resolve();
      for (const piece of derived) piece.resolve();
      if (this.#rowsToDelete.length === 0)
        for (const waiter of this.#deletionWaiters.splice(0)) waiter.resolve();
    } catch (error) {
      const failure = error instanceof JobFailed ? fault(error) : error;
      const values = writes.filter(({ value }) => value !== null);
      if (values.length + derived.length > 0 && error instanceof JobFailed && isFull(error.fault)) {
        // Only what needs the space fails: deletions and compaction make room for later writes.
        for (const each of [...values, ...derived]) each.reject(failure);
        if (expiring) this.#expiring.unshift(expiring);
        this.#compacted = compacted;
        return this.#oneJob(writes.filter(({ value }) => value === null));
      }
      for (const { pending } of outcomes) pending.reject(failure);
      expiring?.reject(failure);
      compacted?.reject(failure);
      for (const piece of derived) piece.reject(failure);
      // The rows stay on the list: their waiters are rejected, and the next job tries again.
      for (const waiter of this.#deletionWaiters.splice(0)) waiter.reject(failure);
      this.#pages = { pages: 0, freePages: 0 };
    }
  }

  #markDeleted(count: number): void {
    this.#rowsDeleted += count;
    if (this.#rowsDeleted < this.#rowsToDelete.length) return;
    this.#rowsToDelete = [];
    this.#rowsDeleted = 0;
  }

  #take(): Pending[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#queue.length && count < writesPerJob && bytes < bytesPerJob)
      bytes += sizeOf(this.#queue[count++]!);
    this.#queuedBytes -= bytes;
    if (count === this.#queue.length) {
      const all = this.#queue;
      this.#queue = [];
      return all;
    }
    return this.#queue.splice(0, count);
  }

  /** Reports whether housekeeping is pending; after a failure it waits for the next write. */
  #hasHousekeeping(): boolean {
    return (
      this.#compacted !== undefined ||
      this.#deletionWaiters.length > 0 ||
      this.#derived.length > 0 ||
      this.#expiring.length > 0 ||
      this.#shouldVacuum()
    );
  }

  #shouldVacuum(): boolean {
    const { pages, freePages } = this.#pages;
    return freePages > freePagesKept && freePages > pages * freeShareKept;
  }
}

const sizeOf = ({ write }: Pending): number => 200 + (write.value?.length ?? 0);
