// Storage of a cache's objects and their indexes: in memory, or in the store with only their keys, revisions
// and field hashes in memory.
import { type Caller, type Selector, TimeSlice, fieldOf, selector } from "#base";
import type { LocalValues, Versions } from "#store";
import type { CachedObject } from "./cached-object.ts";
import { FieldColumns } from "./field-columns.ts";
import { IndexesOnDemand } from "./index-on-demand.ts";
import { selectMatching } from "./page.ts";
import type { Reader } from "./resource-cache.ts";
import { StoredObject, StoredObjects, sortedByRevision, loaded } from "./stored-object.ts";

export interface LoadedItems {
  readonly items: readonly CachedObject[];
  /** Memory that holds only the bytes of these items. */
  readonly lent?: readonly Uint8Array[];
}

export interface Holding {
  /** Bytes of objects in memory. */
  readonly bytes: number;
  /** See ObjectSource. */
  readonly indexed?: Promise<void> | undefined;
  /** Replaces all objects. */
  load(items: readonly CachedObject[]): void;
  /** Returns the form in which a new object is held. */
  hold(item: CachedObject): CachedObject;
  /** Applies a change; both objects are in held form. */
  replace(previous: CachedObject | undefined, item: CachedObject | undefined): void;
  /** Returns the previous state of a changed object. */
  before(previous: CachedObject): CachedObject;
  /** Returns the same objects with their bytes, for a response. */
  withBytes(items: readonly CachedObject[], caller?: Caller): Promise<LoadedItems>;
  /**
   * Resolves when candidates() can use the indexes a selector needs; `all` is called immediately if one has
   * to be built.
   */
  ready(selector: Selector, all: () => readonly CachedObject[]): Promise<void>;
  /** Returns a small superset of the matching objects; undefined if no index helps. */
  candidates(selector: Selector): Iterable<CachedObject> | undefined;
}

/** From this number of objects on, a full scan takes too long for a client. */
const indexedFrom = 10_000;
/** Responses of at most this many objects are read completely before they are returned. */
const maxReadAhead = 10_000;
const readBatch = 128;
/** The bytes of responses with at most this many objects are cached. */
const maxCachedRead = 64;

export class HeldInMemory implements Holding {
  readonly #indexes = new IndexesOnDemand();
  readonly #indexedFields: readonly string[];
  readonly #all: () => readonly CachedObject[];
  #size = 0;
  bytes = 0;

  /** Once there are many objects, indexes by `indexedFields` are built in advance. */
  constructor(indexedFields: readonly string[], all: () => readonly CachedObject[]) {
    this.#indexedFields = indexedFields;
    this.#all = all;
  }

  load(items: readonly CachedObject[]): void {
    this.#indexes.clear();
    this.#size = items.length;
    this.bytes = items.reduce((sum, { line }) => sum + line.length, 0);
    if (items.length >= indexedFrom) this.#warm();
  }

  hold(item: CachedObject): CachedObject {
    return item;
  }

  replace(previous: CachedObject | undefined, item: CachedObject | undefined): void {
    this.bytes += (item?.line.length ?? 0) - (previous?.line.length ?? 0);
    this.#indexes.replace(previous, item);
    this.#size += (item ? 1 : 0) - (previous ? 1 : 0);
    if (item && !previous && this.#size === indexedFrom) this.#warm();
  }

  before(previous: CachedObject): CachedObject {
    return previous;
  }

  async withBytes(items: readonly CachedObject[]): Promise<LoadedItems> {
    return { items };
  }

  async ready(selector: Selector, all: () => readonly CachedObject[]): Promise<void> {
    await this.#indexes.ready(selector, all);
  }

  candidates(selector: Selector): Iterable<CachedObject> | undefined {
    return this.#indexes.candidates(selector);
  }

  #warm(): void {
    void this.#indexes.warm(this.#indexedFields, this.#all);
  }
}

export interface InStoreOptions {
  readonly values: LocalValues;
  /** The indexed fields. */
  readonly fields: readonly string[];
}

export class HeldInStore implements Holding {
  readonly #values: LocalValues;
  readonly #objects: StoredObjects;
  readonly #columns: FieldColumns;
  /** Indexes by label, built on demand. */
  readonly #labels = new IndexesOnDemand();
  readonly #prefix: string;
  readonly #fields: readonly string[];
  indexed: Promise<void> | undefined;

  constructor(prefix: string, read: Reader, { values, fields }: InStoreOptions) {
    this.#prefix = prefix;
    this.#values = values;
    this.#fields = fields;
    this.#objects = new StoredObjects(prefix, values, read);
    const name = `columns of ${prefix}`;
    const preload = (items: readonly CachedObject[]): void => void this.#objects.loadAll(items);
    this.#columns = new FieldColumns({ fields, derived: values.derived, name, preload });
  }

  get bytes(): number {
    return this.#objects.bytes;
  }

  /** Returns all objects stored at a revision, in key order. */
  stored(at: number): readonly CachedObject[] {
    const { keys, revisions }: Versions = this.#values.versions(this.#prefix, at);
    return keys.map((key, place) => this.#objects.at(key, revisions[place]!));
  }

  load(items: readonly CachedObject[]): void {
    this.#labels.clear();
    this.#columns.load(sortedByRevision(items));
    // An object that cannot be read is reported to those who request it.
    this.indexed =
      items.length < indexedFrom ? undefined : this.#lookUpInAdvance(items.at(-1)!).catch(() => undefined);
  }

  /**
   * Looks up each field once, the first one with a match: otherwise the first client to do so would wait while code is
   * compiled and the columns are first read.
   */
  async #lookUpInAdvance(item: CachedObject): Promise<void> {
    await this.#columns.filled;
    const work = new TimeSlice("background");
    for (const [at, field] of this.#fields.entries()) {
      await work.yield();
      const wanted = at === 0 ? fieldOf(item, field) : item.key;
      if (wanted === undefined) continue;
      const query = { selector: selector([], [{ key: field, operator: "in", values: [wanted] }]) };
      const found = this.#columns.candidates(query.selector) ?? [];
      if (found.length <= maxCachedRead) await selectMatching(found, query, Infinity);
    }
  }

  hold(item: CachedObject): CachedObject {
    return this.#objects.hold(item);
  }

  replace(previous: CachedObject | undefined, item: CachedObject | undefined): void {
    this.#columns.replace(previous, item);
    if (this.#labels.size > 0) this.#labels.replace(previous, item);
    if (previous instanceof StoredObject) this.#objects.release(previous);
  }

  /**
   * Returns the object unread if possible: until the change is compacted its bytes can be read on demand,
   * which is rarely needed.
   */
  before(item: CachedObject): CachedObject {
    // A label index needs the indexed value.
    if (this.#labels.size > 0) return loaded(item);
    return (item instanceof StoredObject && item.loaded) || item;
  }

  /** Longer responses read their objects while they are written. */
  async withBytes(items: readonly CachedObject[], caller?: Caller): Promise<LoadedItems> {
    if (items.length > maxReadAhead) return { items };
    const objects = this.#objects;
    const lent: Uint8Array[] = [];
    const lend = (memory: Uint8Array): void => void lent.push(memory);
    // Large pages would evict objects that are used repeatedly.
    const read = (some: readonly CachedObject[]): CachedObject[] =>
      items.length > maxCachedRead ? objects.readAll(some, lend) : objects.loadAll(some);
    const given: CachedObject[] = [];
    const work = new TimeSlice(caller);
    for (let from = 0; from < items.length; from += readBatch) {
      if (work.expired) await work.yield();
      given.push(...read(items.slice(from, from + readBatch)));
    }
    return { items: given, lent };
  }

  /** Field lookups use the columns; an index is built only for exact label selectors without fields. */
  async ready(selector: Selector, all: () => readonly CachedObject[]): Promise<void> {
    await this.#columns.ready();
    if (selector.exact?.of === "label") await this.#labels.ready(selector, all);
  }

  candidates(selector: Selector): Iterable<CachedObject> | undefined {
    return selector.exact?.of === "label"
      ? this.#labels.candidates(selector)
      : this.#columns.candidates(selector);
  }
}
