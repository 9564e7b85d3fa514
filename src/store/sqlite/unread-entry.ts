// What a key was before a change. Its value is read when somebody asks, which few do, each time anew: whoever wants
// it twice keeps it, and a million entries hold no bytes.

import type { Version } from "../key-index.ts";
import type { Entry, Revision } from "../store.ts";

export class UnreadEntry implements Entry {
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

/** How many bytes an entry holds in memory. */
export const heldBytes = (entry: Entry): number => (entry instanceof UnreadEntry ? 0 : entry.value.length);
