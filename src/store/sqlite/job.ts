// Messages between the event loop and the writer thread. The cost of a single write is dominated by these two
// messages, so they are small: one buffer, housekeeping only if there is any, and a string as the usual
// answer. Shared by both threads, so it imports no other packages of the project.

import type { Revision } from "../store.ts";
import type { Fault } from "./files.ts";

/**
 * Changes for consecutive revisions starting at `first`, and the housekeeping done in the same transaction.
 */
export interface WriterJob {
  readonly first: Revision;
  readonly keys: readonly string[];
  /** Four numbers per change, then all values concatenated. */
  readonly packed: ArrayBuffer;
  readonly housekeeping?: Housekeeping;
}

export interface Housekeeping {
  /** Revisions whose rows can be deleted. */
  readonly deletedRevisions: readonly Revision[];
  /** The number of free pages to return to the file system. */
  readonly vacuumPages: number;
  /** Pieces of derived data to replace, or to remove if `bytes` is null. */
  readonly derived: readonly DerivedPiece[];
  /** The new compacted revision. */
  readonly compacted?: Revision;
}

export interface DerivedPiece {
  readonly name: string;
  readonly piece: number;
  readonly bytes: Uint8Array | null;
}

export type WriterRequest = { readonly do: "job"; readonly job: WriterJob } | { readonly do: "close" };

/** The size of the database. */
export interface Pages {
  readonly pages: number;
  readonly freePages: number;
}

/** Pages are counted only after housekeeping, which may have changed the free ones. */
export type WriterAnswer = "done" | "closed" | { readonly done: Pages } | { readonly fault: Fault };

/** A change in the form the writer stores it. */
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

/** Reports whether the job writes values or derived data; otherwise it only deletes keys and rows. */
export const hasValues = ({ keys, packed: { byteLength }, housekeeping }: WriterJob): boolean =>
  byteLength > keys.length * bytesEach || (housekeeping?.derived ?? []).some(({ bytes }) => bytes !== null);

/** Unpacks the changes; values are views of the buffer. */
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
