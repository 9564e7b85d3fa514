// Indexes by label or field value, built when a selector first asks for one and kept while they are used.
import type { Requirement, Selector } from "#base";
import type { Held } from "./held.ts";

const mostIndexes = 16;
/** Further values a selector asks for are only compared. */
const mostLookups = 4;

/** A value that few share is common (names, uids): a single item needs no set around it. */
type Bucket = Held | Set<Held>;
type Index = Map<string, Bucket>;
type ValueOf = (item: Held) => string | undefined;

export class IndexesOnDemand {
  readonly #indexes = new Map<string, { readonly valueOf: ValueOf; readonly index: Index }>();

  /** A few items among which all matches are: those with the rarest value the selector asks for. Undefined when it asks for none. */
  candidates({ labels, fields }: Selector, all: () => Iterable<Held>): Iterable<Held> | undefined {
    let found: Bucket | undefined;
    let lookups = 0;
    for (const [of, requirements] of [["field", fields] as const, ["label", labels] as const]) {
      for (const requirement of requirements) {
        if (!isExact(requirement) || lookups === mostLookups) continue;
        lookups++;
        const bucket = this.#lookup(of, requirement, all);
        if (bucket === undefined) return [];
        if (found === undefined || sizeOf(bucket) < sizeOf(found)) found = bucket;
      }
    }
    if (found === undefined) return undefined;
    return found instanceof Set ? found : [found];
  }

  replace(old: Held | undefined, item: Held | undefined): void {
    for (const { valueOf, index } of this.#indexes.values()) {
      if (old) remove(index, valueOf(old), old);
      if (item) insert(index, valueOf(item), item);
    }
  }

  clear(): void {
    this.#indexes.clear();
  }

  #lookup(of: "label" | "field", { key, values }: Requirement, all: () => Iterable<Held>): Bucket | undefined {
    const id = `${of} ${key}`;
    let known = this.#indexes.get(id);
    if (known) this.#indexes.delete(id);
    else {
      known = { valueOf: valueOf(of, key), index: new Map() };
      for (const item of all()) insert(known.index, known.valueOf(item), item);
      if (this.#indexes.size >= mostIndexes) this.#indexes.delete(this.#indexes.keys().next().value!);
    }
    this.#indexes.set(id, known);
    return known.index.get(values[0]!);
  }
}

/** Where everybody is in one namespace and most share a value, an index by it would hold everything in a single bucket. */
const isExact = ({ key, operator, values }: Requirement): boolean => operator === "in" && values.length === 1 && key !== "metadata.namespace";

/** How selectors read a value: an absent label is none, an absent field is empty. */
export function valueOf(of: "label" | "field", key: string): ValueOf {
  if (of === "field") return ({ fields }) => (Object.hasOwn(fields, key) ? fields[key] : "");
  return ({ labels }) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
}

const sizeOf = (bucket: Bucket): number => (bucket instanceof Set ? bucket.size : 1);

function insert(index: Index, value: string | undefined, item: Held): void {
  if (value === undefined) return;
  const bucket = index.get(value);
  if (bucket === undefined) index.set(value, item);
  else if (bucket instanceof Set) bucket.add(item);
  else index.set(value, new Set([bucket, item]));
}

function remove(index: Index, value: string | undefined, item: Held): void {
  const bucket = value === undefined ? undefined : index.get(value);
  if (bucket === item || (bucket instanceof Set && bucket.delete(item) && bucket.size === 0)) index.delete(value!);
}
