// Point numbers by the revision of their event, in order of revision. New ones are appended; removed ones are
// marked and compacted later, as in `Points`.
import type { Revision } from "#store";

export class RevisionNumbers {
  #revisions = new Float64Array(64);
  /** Negative if removed. */
  #numbers = new Int32Array(64);
  #length = 0;
  #removed = 0;

  add(revision: Revision, number: number): void {
    const length = this.#length;
    if (length === this.#revisions.length) this.#resize(length * 2);
    const place = length === 0 || revision >= this.#revisions[length - 1]! ? length : this.#from(revision);
    if (place < length)
      for (const column of [this.#revisions, this.#numbers]) column.copyWithin(place + 1, place, length);
    this.#revisions[place] = revision;
    this.#numbers[place] = number;
    this.#length++;
  }

  /** Removes and returns all numbers of a revision: the event of a series has two. */
  take(revision: Revision): readonly number[] {
    const found: number[] = [];
    for (let at = this.#from(revision); at < this.#length && this.#revisions[at] === revision; at++) {
      const number = this.#numbers[at]!;
      if (number < 0) continue;
      found.push(number);
      this.#numbers[at] = -1;
    }
    this.#removed += found.length;
    if (this.#removed >= 64 && this.#removed * 8 >= this.#length) this.#sweep();
    return found;
  }

  #from(revision: Revision): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#revisions[middle]! < revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #sweep(): void {
    let kept = 0;
    for (let at = 0; at < this.#length; at++) {
      if (this.#numbers[at]! < 0) continue;
      this.#revisions[kept] = this.#revisions[at]!;
      this.#numbers[kept++] = this.#numbers[at]!;
    }
    this.#length = kept;
    this.#removed = 0;
    if (kept * 4 < this.#revisions.length) this.#resize(Math.max(kept * 2, 64));
  }

  #resize(capacity: number): void {
    const [revisions, numbers] = [new Float64Array(capacity), new Int32Array(capacity)];
    revisions.set(this.#revisions.subarray(0, this.#length));
    numbers.set(this.#numbers.subarray(0, this.#length));
    this.#revisions = revisions;
    this.#numbers = numbers;
  }
}
