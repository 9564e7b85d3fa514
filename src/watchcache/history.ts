// The last changes of one resource, in order: where lagging watchers catch up and recent snapshots are made.
//
//   revisions   4  4  6  7 | 9  9  9        since = 7: all changes behind 7 are here
//                forgotten | kept           one revision may hold several changes; they are forgotten together
//
// It keeps what happened within the last minute and a bit, which is as long as clients take to come back: its capacity
// doubles when it is full of newer changes, and is halved when a quarter of it would do.
import type { Revision } from "#store";
import type { CacheStats } from "./cache-stats.ts";
import type { Change } from "./frame.ts";

const fewest = 64;
const leastCapacity = 128;
const freshMilliseconds = 75_000;
/** A change holds its object, and once somebody watches also a frame of about the same size. */
const copies = 2;

export interface HistoryBounds {
  readonly changes: number;
  readonly bytes: number;
}

const usualBounds: HistoryBounds = { changes: 8192, bytes: 32 * 1024 * 1024 };

export interface HistoryOptions {
  readonly bounds?: HistoryBounds | undefined;
  /** Where changes of the capacity are counted. */
  readonly stats?: Pick<CacheStats, "capacityIncreases" | "capacityDecreases"> | undefined;
  /** Milliseconds that only go forward. */
  readonly now?: (() => number) | undefined;
}

export class History {
  readonly #bounds: HistoryBounds;
  readonly #stats: HistoryOptions["stats"];
  readonly #now: () => number;
  #capacity: number;
  #changes: Change[] = [];
  /** When each of them came. */
  #times: number[] = [];
  #first = 0;
  #bytes = 0;
  /** Every change behind this revision is here. */
  #since: Revision;

  constructor(
    since: Revision,
    { bounds = usualBounds, stats, now = () => performance.now() }: HistoryOptions = {},
  ) {
    this.#since = since;
    this.#bounds = bounds;
    this.#stats = stats;
    this.#now = now;
    this.#capacity = Math.min(leastCapacity, bounds.changes);
  }

  get capacity(): number {
    return this.#capacity;
  }

  get since(): Revision {
    return this.#since;
  }

  /** The revision of the newest change, or where this history begins. */
  get newest(): Revision {
    return this.#changes.length > this.#first ? this.#changes.at(-1)!.revision : this.#since;
  }

  append(change: Change): void {
    this.#changes.push(change);
    this.#times.push(this.#now());
    this.#bytes += sizeOf(change);
    if (this.#kept > this.#capacity) this.#resize();
    while (this.#full()) this.#forget();
    if (this.#first > this.#capacity) {
      this.#changes = this.#changes.slice(this.#first);
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
  }

  /** Changes behind `revision`, oldest first; undefined when some of them are no longer here. */
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
    } else if (this.#times[quarter]! < fresh && this.#capacity > leastCapacity) {
      this.#capacity = Math.max(this.#capacity / 2, leastCapacity);
      if (this.#stats) this.#stats.capacityDecreases++;
    }
  }

  #full(): boolean {
    const kept = this.#kept;
    return kept > this.#capacity || (kept > fewest && this.#bytes > this.#bounds.bytes);
  }

  #forget(): void {
    const oldest = this.#changes[this.#first]!;
    this.#since = oldest.revision;
    this.#bytes -= sizeOf(oldest);
    // The slot is emptied at once: the array itself is cut only now and then.
    this.#changes[this.#first++] = forgotten;
  }
}

const sizeOf = ({ bytes }: Change): number => bytes * copies;
const forgotten = undefined as unknown as Change;
