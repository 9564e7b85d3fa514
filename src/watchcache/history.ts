// The latest changes of one resource in order, for watchers that catch up and for recent snapshots.
//
//   revisions   4  4  6  7 | 9  9  9        since = 7: all changes after 7 are present
//                  dropped | kept           a revision may have several changes; they are dropped together
//
// It keeps the changes of the last 75 seconds, which covers clients that reconnect: the capacity doubles when
// it is full of more recent changes, and is halved when a quarter of it would suffice.
import type { Revision } from "#store";
import type { CacheStats } from "./cache-stats.ts";
import type { Change } from "./frame.ts";

const minChanges = 64;
const minCapacity = 128;
const freshMilliseconds = 75_000;
/** A change holds its object and, once watched, a frame of about the same size. */
const copies = 2;

export interface HistoryBounds {
  readonly changes: number;
  readonly bytes: number;
}

const defaultBounds: HistoryBounds = { changes: 8192, bytes: 32 * 1024 * 1024 };

export interface HistoryOptions {
  readonly bounds?: HistoryBounds | undefined;
  /** Receives counts of capacity changes. */
  readonly stats?: Pick<CacheStats, "capacityIncreases" | "capacityDecreases"> | undefined;
  /** Monotonic clock in milliseconds. */
  readonly now?: (() => number) | undefined;
}

export class History {
  readonly #bounds: HistoryBounds;
  readonly #stats: HistoryOptions["stats"];
  readonly #now: () => number;
  #capacity: number;
  #changes: Change[] = [];
  /** Arrival time of each change. */
  #times: number[] = [];
  #first = 0;
  #bytes = 0;
  /** All changes after this revision are present. */
  #since: Revision;

  constructor(
    since: Revision,
    { bounds = defaultBounds, stats, now = () => performance.now() }: HistoryOptions = {},
  ) {
    this.#since = since;
    this.#bounds = bounds;
    this.#stats = stats;
    this.#now = now;
    this.#capacity = Math.min(minCapacity, bounds.changes);
  }

  get capacity(): number {
    return this.#capacity;
  }

  get since(): Revision {
    return this.#since;
  }

  /** Revision of the newest change, or the start of the history. */
  get newest(): Revision {
    return this.#changes.length > this.#first ? this.#changes.at(-1)!.revision : this.#since;
  }

  append(change: Change): void {
    this.#changes.push(change);
    this.#times.push(this.#now());
    this.#bytes += sizeOf(change);
    if (this.#kept > this.#capacity) this.#resize();
    while (this.#full()) this.#dropOldest();
    if (this.#first > this.#capacity) {
      this.#changes = this.#changes.slice(this.#first);
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
  }

  /** Returns the changes after `revision`, oldest first; undefined if some of them have been dropped. */
  after(revision: Revision): readonly Change[] | undefined {
    if (revision < this.#since) return undefined;
    let low = this.#first;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#changes[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#changes.slice(low);
  }

  get #kept(): number {
    return this.#changes.length - this.#first;
  }

  #resize(): void {
    const fresh = this.#times.at(-1)! - freshMilliseconds;
    const quarter = this.#changes.length - Math.ceil(this.#capacity / 4);
    if (this.#times[this.#first]! > fresh && this.#capacity < this.#bounds.changes) {
      this.#capacity = Math.min(2 * this.#capacity, this.#bounds.changes);
      if (this.#stats) this.#stats.capacityIncreases++;
    } else if (this.#times[quarter]! < fresh && this.#capacity > minCapacity) {
      this.#capacity = Math.max(this.#capacity / 2, minCapacity);
      if (this.#stats) this.#stats.capacityDecreases++;
    }
  }

  #full(): boolean {
    const kept = this.#kept;
    return kept > this.#capacity || (kept > minChanges && this.#bytes > this.#bounds.bytes);
  }

  #dropOldest(): void {
    const oldest = this.#changes[this.#first]!;
    this.#since = oldest.revision;
    this.#bytes -= sizeOf(oldest);
    // The slot is cleared immediately; the array itself is truncated only occasionally.
    this.#changes[this.#first++] = dropped;
  }
}

const sizeOf = ({ bytes }: Change): number => bytes * copies;
const dropped = undefined as unknown as Change;
