// The last changes of one resource, in order: where lagging watchers catch up and recent snapshots are made.
import type { Revision } from "#store";
import type { Change } from "./frame.ts";

const fewest = 512;

export class History {
  readonly #capacity: number;
  #changes: Change[] = [];
  #first = 0;
  /** Every change behind this revision is here. */
  #since: Revision;

  constructor(since: Revision, capacity = 8192) {
    this.#since = since;
    this.#capacity = Math.max(fewest, capacity);
  }

  get since(): Revision {
    return this.#since;
  }

  /** The revision of the newest change, or where this history begins. */
  get newest(): Revision {
    return this.#changes.at(-1)?.revision ?? this.#since;
  }

  append(change: Change): void {
    this.#changes.push(change);
    while (this.#changes.length - this.#first > this.#capacity) this.#since = this.#changes[this.#first++]!.revision;
    if (this.#first > this.#capacity) {
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
}
