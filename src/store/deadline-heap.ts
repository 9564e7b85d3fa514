// Keys ordered by expiry time: a binary heap stored in columns, since a million objects would take three
// times as much memory.

import type { Revision } from "./store.ts";

export interface Deadline {
  readonly key: string;
  readonly revision: Revision;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export class DeadlineHeap {
  #at = new Float64Array(64);
  #revisions = new Float64Array(64);
  #keys: string[] = [];

  get size(): number {
    return this.#keys.length;
  }

  /** The earliest deadline; Infinity if the heap is empty. */
  get earliest(): number {
    return this.#keys.length > 0 ? this.#at[0]! : Infinity;
  }

  push(key: string, revision: Revision, at: number): void {
    let place = this.#keys.push(key) - 1;
    if (place >= this.#at.length) this.#grow();
    while (place > 0) {
      const parent = (place - 1) >>> 1;
      if (this.#at[parent]! <= at) break;
      this.#move(parent, place);
      place = parent;
    }
    this.#put(place, key, revision, at);
  }

  /** Removes and returns the earliest deadline. */
  pop(): Deadline | undefined {
    if (this.#keys.length === 0) return undefined;
    const top = this.#get(0);
    const last = this.#get(this.#keys.length - 1);
    this.#keys.pop();
    if (this.#keys.length > 0) this.#sink(0, last);
    return top;
  }

  /** Removes the entries for which `keep` returns false. */
  filter(keep: (key: string, revision: Revision) => boolean): void {
    let size = 0;
    for (let place = 0; place < this.#keys.length; place++)
      if (keep(this.#keys[place]!, this.#revisions[place]!)) this.#move(place, size++);
    this.#keys.length = size;
    for (let place = (size >>> 1) - 1; place >= 0; place--) this.#sink(place, this.#get(place));
  }

  *entries(): Generator<Deadline> {
    for (let place = 0; place < this.#keys.length; place++) yield this.#get(place);
  }

  #sink(from: number, { key, revision, at }: Deadline): void {
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.#keys.length) break;
      if (child + 1 < this.#keys.length && this.#at[child + 1]! < this.#at[child]!) child++;
      if (this.#at[child]! >= at) break;
      this.#move(child, place);
      place = child;
    }
    this.#put(place, key, revision, at);
  }

  #get(place: number): Deadline {
    return { key: this.#keys[place]!, revision: this.#revisions[place]!, at: this.#at[place]! };
  }

  #put(place: number, key: string, revision: Revision, at: number): void {
    this.#keys[place] = key;
    this.#revisions[place] = revision;
    this.#at[place] = at;
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#keys[from]!, this.#revisions[from]!, this.#at[from]!);
  }

  #grow(): void {
    const larger = (column: Float64Array): Float64Array<ArrayBuffer> => {
      const copy = new Float64Array(column.length * 2);
      copy.set(column);
      return copy;
    };
    this.#at = larger(this.#at);
    this.#revisions = larger(this.#revisions);
  }
}
