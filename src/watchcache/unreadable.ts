// Stored objects of one resource that nobody can read, because the key that encrypted them is missing or
// its service is away. Whoever asks for one of them has it tried again; all others are served meanwhile.
import type { Entry, Revision, Store } from "#store";

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
   * Reads again what lies below a prefix, or has exactly that key, and gives it to `found`. Throws at the first
   * that is still unreadable.
   */
  async retry(prefix: string, found: (entry: Entry) => void): Promise<void> {
    if (this.#revisions.size === 0) return;
    for (const key of this.#revisions.has(prefix) ? [prefix] : this.#revisions.keys()) {
      if (!key.startsWith(prefix)) continue;
      const [entry] = (await this.#store.read({ key })).entries;
      // A change in the meantime comes by the watch of the store.
      if (entry && this.#revisions.get(key) === entry.revision) {
        this.#revisions.delete(key);
        found(entry);
      }
    }
  }
}
