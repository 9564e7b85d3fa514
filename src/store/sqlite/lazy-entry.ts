// The entry of a key before a change. Its value is read from disk on each access, which is rare; callers that
// need it twice keep it, so a million entries hold no value bytes.

import type { Version } from "../key-index.ts";
import type { Entry, Revision } from "../store.ts";

/** Returns the value of a key at a version. One function serves all entries. */
export type ReadValue = (key: string, version: Version) => Uint8Array;

export class LazyEntry implements Entry {
  readonly key: string;
  readonly revision: Revision;
  readonly created: Revision;
  readonly #read: ReadValue;

  constructor(key: string, { revision, created }: Version, read: ReadValue) {
    this.key = key;
    this.revision = revision;
    this.created = created;
    this.#read = read;
  }

  get value(): Uint8Array {
    return this.#read(this.key, this);
  }
}

/** Returns the number of value bytes an entry holds in memory. */
export const heldBytes = (entry: Entry): number => (entry instanceof LazyEntry ? 0 : entry.value.length);
