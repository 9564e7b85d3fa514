// Stored objects of one resource that nobody can read: the key that encrypted them is missing, its service is
// away, or the bytes are no object of the kind. Whoever asks for one of them has it tried again; all others are
// served meanwhile.
import type { Entry, Revision, Store } from "#store";

/** What came of decoding a stored value: an error stands for the object. */
export type Decoded<T> = { readonly item: T } | { readonly error: Error };

export function tryDecode<T>(decode: () => T): Decoded<T> {
  try {
    return { item: decode() };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

export class UnreadableObjects {
  readonly #store: Store;
  /** By key, the revision that could not be read. */
  #revisions = new Map<string, Revision>();

  constructor(store: Store) {
    this.#store = store;
  }

  reset(entries: readonly Pick<Entry, "key" | "revision">[]): void {
    this.#revisions = new Map(entries.map(({ key, revision }) => [key, revision]));
  }

  add(key: string, revision: Revision): void {
    this.#revisions.set(key, revision);
  }

  delete(key: string): void {
    if (this.#revisions.size > 0) this.#revisions.delete(key);
  }

  get size(): number {
    return this.#revisions.size;
  }

  has(key: string): boolean {
    return this.#revisions.size > 0 && this.#revisions.has(key);
  }

  /**
   * Reads again what lies below a prefix, or has exactly that key, and gives it to `found`, which may throw.
   * Throws at the first that is still unreadable.
   */
  async retry(prefix: string, found: (entry: Entry) => void): Promise<void> {
    if (this.#revisions.size === 0) return;
    for (const key of this.#revisions.has(prefix) ? [prefix] : this.#revisions.keys()) {
      if (!key.startsWith(prefix)) continue;
      const [entry] = (await this.#store.read({ key })).entries;
      // A change in the meantime comes by the watch of the store.
      if (entry && this.#revisions.get(key) === entry.revision) {
        found(entry);
        this.#revisions.delete(key);
      }
    }
  }
}
