// When keys expire: one timer for the earliest, a heap for the rest. A renewed key leaves its old place in
// the heap behind; the heap is rebuilt when more than half of it is such leftovers.

import type { Clock } from "#base";
import type { Revision } from "./store.ts";

/** A key whose time has come, and the revision it must still have for that to count. */
export interface Due {
  readonly key: string;
  readonly revision: Revision;
}
interface Deadline extends Due {
  readonly at: number;
}

const longestTimer = 86_400_000;
const retryMilliseconds = 1000;
const duePerTurn = 256;

export class Deadlines {
  readonly #clock: Clock;
  readonly #expire: (due: readonly Due[]) => Promise<void>;
  readonly #current = new Map<string, Deadline>();
  #heap: Deadline[] = [];
  #cancel: (() => void) | undefined;
  #timerAt = Infinity;
  #busy = false;
  #closed = false;

  /** `expire` deletes keys that are due; when it fails they are tried again. */
  constructor(clock: Clock, expire: (due: readonly Due[]) => Promise<void>) {
    this.#clock = clock;
    this.#expire = expire;
  }

  /** Notes what a write means for the key's time: `at` in milliseconds, or never. */
  set(key: string, revision: Revision, at: number | undefined): void {
    if (at === undefined) {
      this.#current.delete(key);
      return;
    }
    const deadline = { key, revision, at };
    this.#current.set(key, deadline);
    if (this.#heap.length > 2 * this.#current.size + 64) this.#rebuild();
    else push(this.#heap, deadline);
    this.#arm();
  }

  /** Every key that will expire, with its time. */
  entries(): readonly { readonly key: string; readonly revision: Revision; readonly at: number }[] {
    return [...this.#current.values()];
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  #arm(delay = 0): void {
    const first = this.#heap[0];
    if (!first || this.#busy || this.#closed) return;
    const wait = Math.max(first.at - this.#clock.now(), delay);
    const at = this.#clock.now() + wait;
    if (this.#cancel && this.#timerAt <= at) return;
    this.#cancel?.();
    this.#timerAt = at;
    this.#cancel = this.#clock.after(Math.min(Math.max(wait, 0), longestTimer), () => void this.#fire());
  }

  async #fire(): Promise<void> {
    this.#cancel = undefined;
    this.#busy = true;
    let delay = 0;
    for (let due = this.#due(); due.length && !this.#closed; due = this.#due()) {
      try {
        await this.#expire(due);
        for (const deadline of due)
          if (this.#current.get(deadline.key) === deadline) this.#current.delete(deadline.key);
      } catch {
        delay = retryMilliseconds;
        for (const deadline of due)
          if (this.#current.get(deadline.key) === deadline) push(this.#heap, deadline);
        break;
      }
    }
    this.#busy = false;
    this.#arm(delay);
  }

  /** Takes some of the keys whose time has come off the heap. */
  #due(): Deadline[] {
    const due: Deadline[] = [];
    while (due.length < duePerTurn && this.#heap[0] && this.#heap[0].at <= this.#clock.now()) {
      const deadline = pop(this.#heap);
      if (this.#current.get(deadline.key) === deadline) due.push(deadline);
    }
    return due;
  }

  #rebuild(): void {
    this.#heap = [...this.#current.values()].sort((a, b) => a.at - b.at);
  }
}

function push(heap: Deadline[], item: Deadline): void {
  let at = heap.push(item) - 1;
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    if (heap[parent]!.at <= item.at) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = item;
}

function pop(heap: Deadline[]): Deadline {
  const top = heap[0]!;
  const last = heap.pop()!;
  if (heap.length === 0) return top;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++;
    if (heap[child]!.at >= last.at) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return top;
}
