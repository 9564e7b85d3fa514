// The newest changes, kept in memory within a byte budget: watchers that keep up, and updates of recently
// written keys, never read from disk.

import type { Change, Revision } from "../store.ts";
import { heldBytes } from "./lazy-entry.ts";

const overheadBytes = 300;

export class RecentChanges {
  readonly #budget: number;
  #changes: Change[] = [];
  #head = 0;
  #bytes = 0;

  constructor(budgetBytes: number) {
    this.#budget = budgetBytes;
  }

  /** The oldest revision held, or undefined if it is empty. */
  get first(): Revision | undefined {
    return this.#changes[this.#head]?.revision;
  }

  /** Adds the change of the next revision, and drops the oldest while the budget is exceeded. */
  push(change: Change): void {
    this.#changes.push(change);
    this.#bytes += sizeOf(change);
    while (this.#bytes > this.#budget && this.#head < this.#changes.length)
      this.#bytes -= sizeOf(this.#changes[this.#head++]!);
    if (this.#head > 1024 && this.#head > this.#changes.length / 2) {
      this.#changes = this.#changes.slice(this.#head);
      this.#head = 0;
    } else if (this.#head > 0) this.#clear();
  }

  get(revision: Revision): Change | undefined {
    const first = this.first;
    return first === undefined || revision < first ? undefined : this.#changes[this.#head + revision - first];
  }

  // Dropped changes must not be kept alive by the array until it is truncated.
  #clear(): void {
    for (let i = this.#head - 1; i >= 0 && this.#changes[i] !== droppedChange; i--)
      this.#changes[i] = droppedChange;
  }
}

const droppedChange: Change = { key: "", revision: 0, value: null, created: 0 };

const sizeOf = (change: Change): number =>
  overheadBytes + (change.value?.length ?? 0) + (change.previous ? heldBytes(change.previous) : 0);
