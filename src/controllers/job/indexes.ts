// Sets of completion indexes of indexed jobs, in the compressed format of their status, such as 1,3-5,7.
// They are kept as ranges, since a few bytes of a status may stand for billions of indexes.

interface Range {
  readonly first: number;
  last: number;
}

export class IndexSet {
  /** In increasing order, with at least one index between two ranges. */
  #ranges: Range[] = [];
  #size = 0;

  /** Parses indexes, dropping those not below the number of completions. */
  static parse(text: string | undefined, completions: number): IndexSet {
    const ranges = (text ?? "").split(",").flatMap((part) => {
      const found = /^(\d+)(?:-(\d+))?$/.exec(part);
      const [first, last] = [Number(found?.[1]), Number(found?.[2] ?? found?.[1])];
      return first <= last && first < completions ? [{ first, last: Math.min(last, completions - 1) }] : [];
    });
    return IndexSet.#of(ranges);
  }

  static #of(ranges: readonly Range[]): IndexSet {
    const set = new IndexSet();
    for (const { first, last } of ranges.toSorted((a, b) => a.first - b.first)) {
      const previous = set.#ranges.at(-1);
      if (previous && first <= previous.last + 1) previous.last = Math.max(previous.last, last);
      else set.#ranges.push({ first, last });
    }
    set.#size = set.#ranges.reduce((total, { first, last }) => total + last - first + 1, 0);
    return set;
  }

  get size(): number {
    return this.#size;
  }

  has(index: number): boolean {
    const at = this.#positionOf(index);
    return at < this.#ranges.length && this.#ranges[at]!.first <= index;
  }

  add(index: number): void {
    if (this.has(index)) return;
    const at = this.#positionOf(index);
    const [before, after] = [this.#ranges[at - 1], this.#ranges[at]];
    const first = before?.last === index - 1 ? before.first : index;
    const last = after?.first === index + 1 ? after.last : index;
    const from = first === index ? at : at - 1;
    this.#ranges.splice(from, at - from + (last === index ? 0 : 1), { first, last });
    this.#size++;
  }

  union(other: IndexSet): IndexSet {
    return IndexSet.#of([...this.#ranges, ...other.#ranges]);
  }

  copy(): IndexSet {
    return IndexSet.#of(this.#ranges);
  }

  /** Counts the indexes that are in both sets. */
  countCommon(other: IndexSet): number {
    let count = 0;
    for (let at = 0, next = 0; at < this.#ranges.length && next < other.#ranges.length;) {
      const [range, second] = [this.#ranges[at]!, other.#ranges[next]!];
      count += Math.max(0, Math.min(range.last, second.last) - Math.max(range.first, second.first) + 1);
      if (range.last <= second.last) at++;
      else next++;
    }
    return count;
  }

  /** Returns the lowest indexes below the limit that are neither here nor taken, at most `count`. */
  missing(limit: number, count: number, taken: ReadonlySet<number>): number[] {
    const found: number[] = [];
    let index = 0;
    for (const { first, last } of [...this.#ranges, { first: limit, last: limit }]) {
      for (; index < Math.min(first, limit) && found.length < count; index++)
        if (!taken.has(index)) found.push(index);
      index = last + 1;
    }
    return found;
  }

  /** Formats the indexes; runs of three or more are written as ranges. */
  toString(): string {
    return this.#ranges
      .map(({ first, last }) =>
        last === first ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`,
      )
      .join(",");
  }

  /** Returns the position of the first range that does not end below the index. */
  #positionOf(index: number): number {
    let [low, high] = [0, this.#ranges.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ranges[middle]!.last < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
