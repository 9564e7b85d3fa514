// The entry of a key before a change. Its value is read from disk on each access, which is rare; callers that
// need it twice keep it, so a million entries hold no value bytes.

import type { Version } from "../key-index.ts";
import type { Entry, Revision } from "../store.ts";

export class LazyEntry implements Entry {
  readonly key: string;
  readonly revision: Revision;
  readonly created: Revision;
  readonly #read: () => Uint8Array;

  constructor(key: string, { revision, created }: Version, read: () => Uint8Array) {
    this.key = key;
    this.revision = revision;
    this.created = created;
    this.#read = read;
  }

  get value(): Uint8Array {
    return this.#read();
  }
}

/** Returns the number of value bytes an entry holds in memory. */
export const heldBytes = (entry: Entry): number => (entry instanceof LazyEntry ? 0 : entry.value.length);
