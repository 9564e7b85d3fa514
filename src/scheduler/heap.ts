// A binary heap that pops the first item according to the given order.

export class Heap<T> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(items[at]!, items[parent]!)) return;
      [items[at], items[parent]] = [items[parent]!, items[at]!];
      at = parent;
    }
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return first;
    items[0] = last;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let next = at;
      if (left < items.length && this.#isBefore(items[left]!, items[next]!)) next = left;
      if (right < items.length && this.#isBefore(items[right]!, items[next]!)) next = right;
      if (next === at) return first;
      [items[at], items[next]] = [items[next]!, items[at]!];
      at = next;
    }
  }
}
