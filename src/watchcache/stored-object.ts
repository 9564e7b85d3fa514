// Objects of a kind with very many instances, represented by key and revision. Their bytes are in the store
// and are read on demand; the most recently used ones and the newest stay in memory within a budget.
import { Compacted, type BufferCallback, type LocalValues, type Revision } from "#store";
import type { CachedObject } from "./cached-object.ts";
import type { Reader } from "./resource-cache.ts";

const defaultBudgetBytes = 32 * 1024 * 1024;

export class StoredObjects {
  readonly #prefix: string;
  readonly #values: LocalValues;
  readonly #read: Reader;
  readonly #budgetBytes: number;
  /** Objects with bytes in memory, oldest first; those before `#first` have been evicted. */
  #loaded: (StoredObject | undefined)[] = [];
  #first = 0;
  /** Number of objects from `#first` on that have been released. */
  #released = 0;
  /** Bytes in memory. */
  bytes = 0;

  /** The rest of a key after `prefix` is a namespace and a name. */
  constructor(prefix: string, values: LocalValues, read: Reader, budgetBytes = defaultBudgetBytes) {
    this.#prefix = prefix;
    this.#values = values;
    this.#read = read;
    this.#budgetBytes = budgetBytes;
  }

  /** Returns an object identified by its key and revision. */
  at(key: string, revision: Revision): StoredObject {
    return new StoredObject(this, key, revision);
  }

  /** Returns an object that has just been read or written, with its bytes cached. */
  hold(item: CachedObject): StoredObject {
    const stored = new StoredObject(this, item.key, item.revision);
    stored.loaded = item;
    this.#keep(stored, item);
    return stored;
  }

  /** Drops the bytes of an object that has been replaced or deleted. */
  release(stored: StoredObject): void {
    if (this.#evict(stored)) this.#released++;
  }

  /** Returns the namespace in a key. */
  namespaceOf(key: string): string {
    return key.slice(this.#prefix.length, Math.max(this.#prefix.length, key.lastIndexOf("/")));
  }

  /** Reads the bytes and caches them. */
  load(stored: StoredObject): CachedObject {
    return this.#cacheDecoded(stored, this.#values.value(stored.revision));
  }

  /** Loads several objects at once, in order. */
  loadAll(items: readonly CachedObject[]): CachedObject[] {
    const absent = items.filter((item) => item instanceof StoredObject && !item.loaded);
    const values = this.#values.values(absent.map(({ revision }) => revision));
    return items.map((item) =>
      item instanceof StoredObject
        ? (item.loaded ?? this.#cacheDecoded(item, values.get(item.revision)))
        : item,
    );
  }

  /**
   * Reads several objects for one answer: nothing is cached, and they are valid only until the lent memory is
   * freed.
   */
  readAll(items: readonly CachedObject[], onBuffer: BufferCallback): CachedObject[] {
    const absent = items.filter((item) => item instanceof StoredObject && !item.loaded);
    const values = this.#values.values(
      absent.map(({ revision }) => revision),
      onBuffer,
    );
    return items.map((item) =>
      item instanceof StoredObject
        ? (item.loaded ?? this.#decode(item, values.get(item.revision), "one answer"))
        : item,
    );
  }

  #cacheDecoded(stored: StoredObject, value: Uint8Array | undefined): CachedObject {
    const item = this.#decode(stored, value);
    stored.loaded = item;
    this.#keep(stored, item);
    return item;
  }

  #decode({ key, revision }: StoredObject, value: Uint8Array | undefined, use?: "one answer"): CachedObject {
    // It was deleted or replaced, and the revision has been compacted.
    if (!value) throw new Compacted(revision + 1);
    return this.#read({ key, revision, value, created: revision }, use);
  }

  #keep(stored: StoredObject, { line }: CachedObject): void {
    this.#loaded.push(stored);
    this.bytes += line.length;
    while (this.#first < this.#loaded.length - 1) {
      const oldest = this.#loaded[this.#first]!;
      if (oldest.loaded && this.bytes <= this.#budgetBytes) break;
      if (!this.#evict(oldest)) this.#released--;
      this.#loaded[this.#first++] = undefined;
    }
    const unused = this.#first + this.#released;
    if (unused > 1024 && unused > this.#loaded.length / 2) {
      this.#loaded = this.#loaded.filter((each) => each?.loaded);
      this.#first = 0;
      this.#released = 0;
    }
  }

  #evict(stored: StoredObject): boolean {
    if (!stored.loaded) return false;
    this.bytes -= stored.loaded.line.length;
    stored.loaded = undefined;
    return true;
  }
}

/** There may be a million instances. */
export class StoredObject implements CachedObject {
  readonly #objects: StoredObjects;
  readonly key: string;
  readonly revision: Revision;
  /** Set while the bytes are in memory. */
  loaded: CachedObject | undefined;

  constructor(objects: StoredObjects, key: string, revision: Revision) {
    this.#objects = objects;
    this.key = key;
    this.revision = revision;
    this.loaded = undefined;
  }

  /** Returns the object with its bytes, which the caller may keep. */
  load(): CachedObject {
    return this.loaded ?? this.#objects.load(this);
  }

  get namespace(): string {
    return this.#objects.namespaceOf(this.key);
  }
  get name(): string {
    return this.key.slice(this.key.lastIndexOf("/") + 1);
  }
  get labels(): CachedObject["labels"] {
    return this.load().labels;
  }
  get fields(): CachedObject["fields"] {
    return this.load().fields;
  }
  get json(): Buffer {
    return this.load().json;
  }
  get line(): Buffer {
    return this.load().line;
  }
  get typeHeaderBytes(): number {
    return this.load().typeHeaderBytes;
  }
  get revisionStart(): number {
    return this.load().revisionStart;
  }
  get revisionEnd(): number {
    return this.load().revisionEnd;
  }
}

/** Returns the object with its bytes, wherever they are. */
export const loaded = (item: CachedObject): CachedObject =>
  item instanceof StoredObject ? item.load() : item;

/** Returns objects in order of revision. Numbers sort much faster than with a comparison function. */
export function sortedByRevision(items: readonly CachedObject[]): CachedObject[] {
  const count = items.length;
  const largest = items.reduce((most, { revision }) => Math.max(most, revision), 0);
  if (largest * count > Number.MAX_SAFE_INTEGER / 2) return items.toSorted((a, b) => a.revision - b.revision);
  const order = new Float64Array(count);
  for (let at = 0; at < count; at++) order[at] = items[at]!.revision * count + at;
  return Array.from(order.sort(), (place) => items[place % count]!);
}
