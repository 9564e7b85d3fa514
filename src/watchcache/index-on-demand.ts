// Indexes by label or field value, built when a selector first needs one and evicted by least recent use.
// Indexes that are known to be needed can be built in advance.
import { TimeSlice, type Requirement, type Selector, fieldOf, labelOf } from "#base";
import type { CachedObject } from "./cached-object.ts";

const maxIndexes = 16;
/** Maximum number of values looked up per selector; further ones are only compared. */
const maxLookups = 4;

/**
 * The items with one value. Most values are shared by few objects (names, uids, the node of a pod): up to this
 * number they are an array, in which a new state replaces the old one in place; more are a set.
 */
type Bucket = CachedObject | CachedObject[] | Set<CachedObject>;
const maxListed = 64;
type Index = Map<string, Bucket>;
type ValueOf = (item: CachedObject) => string | undefined;

/** An index, and while it is being built the items removed meanwhile, which the builder must skip. */
interface Known {
  readonly valueOf: ValueOf;
  readonly index: Index;
  building: { readonly removed: Set<CachedObject>; readonly done: Promise<void> } | undefined;
}

export class IndexesOnDemand {
  readonly #indexes = new Map<string, Known>();
  #generation = 0;

  /** Number of indexes. */
  get size(): number {
    return this.#indexes.size;
  }

  /** Builds the indexes by these fields one after the other, in advance; `all` is called for each. */
  async warm(fields: readonly string[], all: () => readonly CachedObject[]): Promise<void> {
    const generation = this.#generation;
    for (const key of fields) {
      const id = `field ${key}`;
      if (!this.#indexes.has(id)) await this.#build(id, valueOf("field", key), all()).building?.done;
      if (generation !== this.#generation) return;
    }
  }

  /**
   * Resolves when the indexes that a selector needs are complete; `all` is called immediately if one has to
   * be built.
   */
  async ready(selector: Selector, all: () => readonly CachedObject[]): Promise<void> {
    for (const { id, of, key } of lookupsOf(selector)) {
      const known = this.#indexes.get(id) ?? this.#build(id, valueOf(of, key), all());
      // The map is ordered by last use.
      this.#indexes.delete(id);
      this.#indexes.set(id, known);
      if (known.building) await known.building.done;
    }
  }

  /**
   * Returns a small superset of the matching items: those with the rarest value that the selector requires.
   * Returns undefined if no index helps.
   */
  candidates(selector: Selector): Iterable<CachedObject> | undefined {
    let found: Bucket | undefined;
    for (const { id, value } of lookupsOf(selector)) {
      const known = this.#indexes.get(id);
      if (!known || known.building) continue;
      const bucket = known.index.get(value);
      if (bucket === undefined) return [];
      if (found === undefined || sizeOf(bucket) < sizeOf(found)) found = bucket;
    }
    if (found === undefined) return undefined;
    // The caller may yield while it reads.
    return found instanceof Set ? found : Array.isArray(found) ? [...found] : [found];
  }

  replace(old: CachedObject | undefined, item: CachedObject | undefined): void {
    for (const { valueOf: read, index, building } of this.#indexes.values()) {
      if (old) {
        building?.removed.add(old);
        const value = read(old);
        if (item && value !== undefined && read(item) === value && replaceListed(index, value, old, item))
          continue;
        remove(index, value, old);
      }
      if (item) insert(index, read(item), item);
    }
  }

  clear(): void {
    this.#generation++;
    this.#indexes.clear();
  }

  #build(id: string, read: ValueOf, items: readonly CachedObject[]): Known {
    if (this.#indexes.size >= maxIndexes) this.#indexes.delete(this.#indexes.keys().next().value!);
    const removed = new Set<CachedObject>();
    const known: Known = { valueOf: read, index: new Map(), building: undefined };
    this.#indexes.set(id, known);
    const fill = async (): Promise<void> => {
      const work = new TimeSlice();
      for (const item of items) {
        if (!removed.has(item)) insert(known.index, read(item), item);
        if (work.tick()) await work.yield();
      }
      known.building = undefined;
    };
    known.building = { removed, done: Promise.resolve().then(fill) };
    return known;
  }
}

/** Returns the values that a selector requires exactly, up to the maximum number of lookups. */
function lookupsOf({ labels, fields }: Selector): {
  readonly id: string;
  readonly of: "label" | "field";
  readonly key: string;
  readonly value: string;
}[] {
  const exact = (of: "label" | "field", requirements: readonly Requirement[]) =>
    requirements
      .filter(isExact)
      .map(({ key, values }) => ({ id: `${of} ${key}`, of, key, value: values[0]! }));
  return [...exact("field", fields), ...exact("label", labels)].slice(0, maxLookups);
}

/**
 * Reports whether a requirement is worth an index. The namespace is not: if most objects share one, the index
 * would hold nearly everything in a single bucket.
 */
const isExact = ({ key, operator, values }: Requirement): boolean =>
  operator === "in" && values.length === 1 && key !== "metadata.namespace";

/** Returns how selectors read a value. */
export const valueOf = (of: "label" | "field", key: string): ValueOf =>
  of === "field" ? (item) => fieldOf(item, key) : (item) => labelOf(item, key);

const sizeOf = (bucket: Bucket): number =>
  bucket instanceof Set ? bucket.size : Array.isArray(bucket) ? bucket.length : 1;

function insert(index: Index, value: string | undefined, item: CachedObject): void {
  if (value === undefined) return;
  const bucket = index.get(value);
  if (bucket === undefined) index.set(value, item);
  else if (bucket instanceof Set) bucket.add(item);
  else if (!Array.isArray(bucket)) index.set(value, [bucket, item]);
  else if (bucket.length < maxListed) bucket.push(item);
  else index.set(value, new Set([...bucket, item]));
}

function remove(index: Index, value: string | undefined, item: CachedObject): void {
  const bucket = value === undefined ? undefined : index.get(value);
  if (bucket === undefined) return;
  if (bucket instanceof Set) bucket.delete(item);
  else if (Array.isArray(bucket)) removeFrom(bucket, item);
  if (bucket === item || sizeOf(bucket) === 0) index.delete(value!);
}

function removeFrom(list: CachedObject[], item: CachedObject): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}

/** Replaces an item whose value has not changed. Returns false if it is in none of the listed places. */
function replaceListed(index: Index, value: string, old: CachedObject, item: CachedObject): boolean {
  const bucket = index.get(value);
  if (bucket === old) {
    index.set(value, item);
    return true;
  }
  const at = Array.isArray(bucket) ? bucket.indexOf(old) : -1;
  if (at >= 0) (bucket as CachedObject[])[at] = item;
  return at >= 0;
}
