// A map kept in key order, in chunks, so that inserting into a million keys moves only a few hundred of them.
//
//   chunks   [a c f]  [g k]  [m p z]      find "k": binary search over first keys, then within the chunk

const chunkSize = 512;

interface Chunk<V> {
  readonly keys: string[];
  readonly values: V[];
}

export class SortedMap<V> {
  #chunks: Chunk<V>[] = [];
  #size = 0;

  /**
   * Builds a map from values that are mostly sorted by key, which is much cheaper than inserting one by one.
   */
  static of<V>(values: readonly V[], keyOf: (value: V) => string): SortedMap<V> {
    const map = new SortedMap<V>();
    let last = "";
    let chunk: Chunk<V> | undefined;
    for (const value of values) {
      const key = keyOf(value);
      if (map.#size > 0 && key <= last) {
        map.set(key, value);
        last = map.#chunks.at(-1)!.keys.at(-1)!;
        chunk = undefined;
        continue;
      }
      chunk ??= map.#chunks.at(-1);
      if (!chunk || chunk.keys.length >= chunkSize) map.#chunks.push((chunk = { keys: [], values: [] }));
      chunk.keys.push(key);
      chunk.values.push(value);
      map.#size++;
      last = key;
    }
    return map;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    const chunk = this.#chunks[this.#chunkFor(key)];
    if (!chunk) return undefined;
    const at = lowerBound(chunk.keys, key);
    return chunk.keys[at] === key ? chunk.values[at] : undefined;
  }

  set(key: string, value: V): void {
    if (this.#chunks.length === 0) this.#chunks.push({ keys: [], values: [] });
    const index = this.#chunkFor(key);
    const chunk = this.#chunks[index]!;
    const at = lowerBound(chunk.keys, key);
    if (chunk.keys[at] === key) {
      chunk.values[at] = value;
      return;
    }
    chunk.keys.splice(at, 0, key);
    chunk.values.splice(at, 0, value);
    this.#size++;
    if (chunk.keys.length > chunkSize * 2) {
      this.#chunks.splice(index + 1, 0, {
        keys: chunk.keys.splice(chunkSize),
        values: chunk.values.splice(chunkSize),
      });
    }
  }

  delete(key: string): boolean {
    const index = this.#chunkFor(key);
    const chunk = this.#chunks[index];
    if (!chunk) return false;
    const at = lowerBound(chunk.keys, key);
    if (chunk.keys[at] !== key) return false;
    chunk.keys.splice(at, 1);
    chunk.values.splice(at, 1);
    this.#size--;
    if (chunk.keys.length === 0) this.#chunks.splice(index, 1);
    return true;
  }

  /** Yields entries from `from` (inclusive) on, in order. The map must not be modified during iteration. */
  *from(from: string): Generator<[string, V]> {
    let index = this.#chunkFor(from);
    let chunk = this.#chunks[index];
    if (!chunk) return;
    let at = lowerBound(chunk.keys, from);
    for (;;) {
      if (at >= chunk.keys.length) {
        chunk = this.#chunks[++index];
        if (!chunk) return;
        at = 0;
        continue;
      }
      yield [chunk.keys[at]!, chunk.values[at]!];
      at++;
    }
  }

  /**
   * Visits values whose key starts with `prefix` and is greater than `after`, until `visit` returns false.
   */
  scan(prefix: string, after: string | undefined, visit: (value: V) => boolean | void): void {
    const start = after !== undefined && after >= prefix ? after : prefix;
    for (let index = this.#chunkFor(start); index < this.#chunks.length; index++) {
      const { keys, values } = this.#chunks[index]!;
      for (let at = keys[0]! >= start ? 0 : lowerBound(keys, start); at < keys.length; at++) {
        const key = keys[at]!;
        if (!key.startsWith(prefix)) return;
        if (key === after) continue;
        if (visit(values[at]!) === false) return;
      }
    }
  }

  /** Returns the number of keys that start with `prefix` and are greater than `after`. */
  count(prefix: string, after?: string): number {
    const start = after !== undefined && after >= prefix ? after : prefix;
    const begin = this.#rank(start) + (after !== undefined && this.get(after) !== undefined ? 1 : 0);
    return Math.max(0, this.#rank(prefix === "" ? "\uffff\uffff" : prefix + "\uffff") - begin);
  }

  *values(): Generator<V> {
    for (const chunk of this.#chunks) yield* chunk.values;
  }

  clear(): void {
    this.#chunks = [];
    this.#size = 0;
  }

  /** The number of keys less than `key`. */
  #rank(key: string): number {
    const index = this.#chunkFor(key);
    const chunk = this.#chunks[index];
    if (!chunk) return 0;
    let rank = lowerBound(chunk.keys, key);
    for (let before = 0; before < index; before++) rank += this.#chunks[before]!.keys.length;
    return rank;
  }

  /** The index of the last chunk that starts at or before the key, or of the first chunk. */
  #chunkFor(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#chunks[middle]!.keys[0]! <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
