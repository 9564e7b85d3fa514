// The last changes of one resource, in order: where lagging watchers catch up and recent snapshots are made.
//
//   revisions   4  4  6  7 | 9  9  9        since = 7: all changes behind 7 are here
//                forgotten | kept           one revision may hold several changes; they are forgotten together
import type { Revision } from "#store";
import type { Change } from "./frame.ts";

const fewest = 64;
/** A change holds its object, and once somebody watches also a frame of about the same size. */
const copies = 2;

export interface HistoryBounds {
  readonly changes: number;
  readonly bytes: number;
}

const usualBounds: HistoryBounds = { changes: 8192, bytes: 32 * 1024 * 1024 };

export class History {
  readonly #bounds: HistoryBounds;
  #changes: Change[] = [];
  #first = 0;
  #bytes = 0;
  /** Every change behind this revision is here. */
  #since: Revision;

  constructor(since: Revision, bounds: HistoryBounds = usualBounds) {
    this.#since = since;
    this.#bounds = bounds;
  }

  get capacity(): number {
    return this.#bounds.changes;
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
    this.#bytes += sizeOf(change);
    while (this.#full()) this.#forget();
    if (this.#first > this.#bounds.changes) {
      this.#changes = this.#changes.slice(this.#first);
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

  #full(): boolean {
    const kept = this.#changes.length - this.#first;
    return kept > this.#bounds.changes || (kept > fewest && this.#bytes > this.#bounds.bytes);
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
