// What goes between the event loop and the writer thread. A write that comes alone costs little more than these two
// messages, so they are small: one buffer, housekeeping only where there is some, and a word as the usual answer.
// Shared by both threads, so it imports no rooms.

import type { Revision } from "../store.ts";
import type { Fault } from "./files.ts";

/** Changes for consecutive revisions from `first` on, and housekeeping that goes with them. */
export interface WriterJob {
  readonly first: Revision;
  readonly keys: readonly string[];
  /** Four numbers for each change, then all values end to end. */
  readonly packed: ArrayBuffer;
  readonly chores?: WriterChores;
}

export interface WriterChores {
  /** Revisions whose rows can go. */
  readonly forget: readonly Revision[];
  /** How many free pages to give back to the file system. */
  readonly vacuumPages: number;
  /** Pieces of derived data to replace, or to remove where there are no bytes. */
  readonly derived: readonly DerivedPiece[];
  /** The revision up to which history is compacted from now on. */
  readonly compacted?: Revision;
}

export interface DerivedPiece {
  readonly name: string;
  readonly piece: number;
  readonly bytes: Uint8Array | null;
}

export type Order = { readonly do: "job"; readonly job: WriterJob } | { readonly do: "close" };

/** How large the database is. */
export interface Pages {
  readonly pages: number;
  readonly freePages: number;
}

/** Pages are counted when housekeeping may have changed which are free. */
export type WriterAnswer = "done" | "closed" | { readonly done: Pages } | { readonly fault: Fault };

/** A change as the writer needs it. */
export interface PackedChange {
  /** The revision that created the key; negative for a deletion. */
  readonly created: number;
  /** The revision of the version replaced, or zero. */
  readonly before: Revision;
  /** Milliseconds since the epoch, or zero. */
  readonly expires: number;
  readonly value: Uint8Array | null;
}

const numbersEach = 4;
const bytesEach = numbersEach * Float64Array.BYTES_PER_ELEMENT;

export function packed(changes: readonly PackedChange[]): ArrayBuffer {
  const size = changes.reduce((sum, { value }) => sum + (value?.length ?? 0), changes.length * bytesEach);
  const buffer = new ArrayBuffer(size);
  const numbers = new Float64Array(buffer, 0, changes.length * numbersEach);
  const bytes = new Uint8Array(buffer);
  let offset = changes.length * bytesEach;
  for (const [at, { created, before, expires, value }] of changes.entries()) {
    numbers.set([created, before, expires, value?.length ?? -1], at * numbersEach);
    if (!value) continue;
    bytes.set(value, offset);
    offset += value.length;
  }
  return buffer;
}

/** Values are pieces of the buffer. */
export function* unpacked(buffer: ArrayBuffer, count: number): Generator<PackedChange> {
  const numbers = new Float64Array(buffer, 0, count * numbersEach);
  let offset = count * bytesEach;
  for (let at = 0; at < numbers.length; at += numbersEach) {
    const length = numbers[at + 3]!;
    yield {
      created: numbers[at]!,
      before: numbers[at + 1]!,
      expires: numbers[at + 2]!,
      value: length < 0 ? null : new Uint8Array(buffer, offset, length),
    };
    if (length > 0) offset += length;
  }
}
