// Stored objects of one resource that cannot be decoded: their encryption key is missing, the key service is
// unavailable, or the bytes are malformed. A request for one of them retries it; other objects are served
// meanwhile.
import type { Entry, Revision, Store } from "#store";

/** The result of decoding a stored value: the object or an error. */
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
  /** The undecodable revision, by key. */
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
   * Reads the objects below a prefix, or with exactly that key, again and passes them to `found`, which may
   * throw. Throws at the first one that is still undecodable.
   */
  async retry(prefix: string, found: (entry: Entry) => void): Promise<void> {
    if (this.#revisions.size === 0) return;
    for (const key of this.#revisions.has(prefix) ? [prefix] : this.#revisions.keys()) {
      if (!key.startsWith(prefix)) continue;
      const [entry] = (await this.#store.read({ key })).entries;
      // A change in the meantime arrives through the watch of the store.
      if (entry && this.#revisions.get(key) === entry.revision) {
        found(entry);
        this.#revisions.delete(key);
      }
    }
  }
}
