// The newest changes, kept in memory within a byte budget: watchers that keep up, and updates of recently
// written keys, never read from disk.
//
// Watchers that keep up read a batch before the next one arrives. Its values are copied then to one buffer, in which
// they replace the oldest: values that stayed where they are would become old garbage, and every 64 MB of that start a
// major garbage collection.

import type { Change, Entry, Revision } from "../store.ts";
import { heldBytes } from "./lazy-entry.ts";

const overheadBytes = 300;

export class RecentChanges {
  readonly #budget: number;
  #changes: (Change | PackedChange)[] = [];
  #head = 0;
  /** Changes from here on are not packed. */
  #unpacked = 0;
  #bytes = 0;
  /** The values of packed changes, in order. A value may continue at the beginning. */
  #values: Uint8Array | undefined;
  #end = 0;

  constructor(budgetBytes: number) {
    this.#budget = budgetBytes;
  }

  /** The oldest revision held, or undefined if it is empty. */
  get first(): Revision | undefined {
    return this.#changes[this.#head]?.revision;
  }

  /** Adds the changes of the next revisions, and drops the oldest while the budget is exceeded. */
  push(changes: readonly Change[]): void {
    for (let at = Math.max(this.#unpacked, this.#head); at < this.#changes.length; at++)
      this.#changes[at] = this.#packed(this.#changes[at] as Change);
    this.#unpacked = this.#changes.length;
    for (const change of changes) {
      this.#changes.push(change);
      this.#bytes += sizeOf(change);
    }
    while (this.#bytes > this.#budget && this.#head < this.#changes.length)
      this.#bytes -= sizeOf(this.#changes[this.#head++]!);
    if (this.#head > 1024 && this.#head > this.#changes.length / 2) {
      this.#changes = this.#changes.slice(this.#head);
      this.#unpacked -= this.#head;
      this.#head = 0;
    } else if (this.#head > 0) this.#clear();
  }

  get(revision: Revision): Change | undefined {
    const first = this.first;
    if (first === undefined || revision < first) return undefined;
    const change = this.#changes[this.#head + revision - first];
    if (!(change instanceof PackedChange)) return change;
    const { key, created, previous } = change;
    return { key, revision, created, value: this.#copyOf(change), ...(previous && { previous }) };
  }

  /** There is room for the value: the budget covers all values held. */
  #packed(change: Change): Change | PackedChange {
    const { value } = change;
    if (!value) return change;
    const values = (this.#values ??= new Uint8Array(this.#budget));
    const start = this.#end;
    const untilEnd = Math.min(value.length, values.length - start);
    values.set(untilEnd < value.length ? value.subarray(0, untilEnd) : value, start);
    if (untilEnd < value.length) values.set(value.subarray(untilEnd));
    this.#end = (start + value.length) % values.length;
    return new PackedChange(change, start, value.length);
  }

  #copyOf({ start, length }: PackedChange): Uint8Array {
    const values = this.#values!;
    const copy = new Uint8Array(length);
    const first = values.subarray(start, start + length);
    copy.set(first);
    copy.set(values.subarray(0, length - first.length), first.length);
    return copy;
  }

  // Dropped changes must not be kept alive by the array until it is truncated.
  #clear(): void {
    for (let i = this.#head - 1; i >= 0 && this.#changes[i] !== droppedChange; i--)
      this.#changes[i] = droppedChange;
  }
}

/** A change whose value is among the packed ones. */
class PackedChange {
  readonly key: string;
  readonly revision: Revision;
  readonly created: Revision;
  readonly previous: Entry | undefined;
  readonly start: number;
  readonly length: number;

  constructor({ key, revision, created, previous }: Change, start: number, length: number) {
    this.key = key;
    this.revision = revision;
    this.created = created;
    this.previous = previous;
    this.start = start;
    this.length = length;
  }
}

const droppedChange: Change = { key: "", revision: 0, value: null, created: 0 };

function sizeOf(change: Change | PackedChange): number {
  const bytes = change instanceof PackedChange ? change.length : (change.value?.length ?? 0);
  return overheadBytes + bytes + (change.previous ? heldBytes(change.previous) : 0);
}
