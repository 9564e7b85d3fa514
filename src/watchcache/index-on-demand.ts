// Indexes by label or field value, built when a selector first asks for one and kept while they are used.
import type { Held } from "./held.ts";

const mostIndexes = 16;

type Index = Map<string, Set<Held>>;

export class IndexesOnDemand {
  readonly #indexes = new Map<string, { readonly valueOf: (item: Held) => string | undefined; readonly index: Index }>();

  /** Items with this exact value; the index is made from `all` when there is none yet. */
  lookup(of: "label" | "field", key: string, value: string, all: () => Iterable<Held>): ReadonlySet<Held> {
    const id = `${of} ${key}`;
    let known = this.#indexes.get(id);
    if (known) {
      this.#indexes.delete(id);
    } else {
      const valueOf = of === "label" ? (item: Held) => item.labels[key] : (item: Held) => item.fields[key] ?? "";
      known = { valueOf, index: new Map() };
      for (const item of all()) insert(known.index, valueOf(item), item);
      if (this.#indexes.size >= mostIndexes) this.#indexes.delete(this.#indexes.keys().next().value!);
    }
    this.#indexes.set(id, known);
    return known.index.get(value) ?? nothing;
  }

  replace(old: Held | undefined, item: Held | undefined): void {
    for (const { valueOf, index } of this.#indexes.values()) {
      if (old) {
        const value = valueOf(old);
        const bucket = value === undefined ? undefined : index.get(value);
        if (bucket?.delete(old) && bucket.size === 0) index.delete(value!);
      }
      if (item) insert(index, valueOf(item), item);
    }
  }

  clear(): void {
    this.#indexes.clear();
  }
}

const nothing: ReadonlySet<Held> = new Set();

function insert(index: Index, value: string | undefined, item: Held): void {
  if (value === undefined) return;
  const bucket = index.get(value);
  if (bucket) bucket.add(item);
  else index.set(value, new Set([item]));
}
