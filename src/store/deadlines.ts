// Key expiration: one timer for the earliest deadline, a heap for the rest. A renewed or deleted key leaves a
// stale entry in the heap: it is skipped when it comes due, and filtered out when the heap has doubled in
// size.

import type { Clock } from "#base";
import { type Deadline, DeadlineHeap } from "./deadline-heap.ts";
import type { Revision } from "./store.ts";

/** An expired key, and the revision it must still have to be deleted. */
export type Due = Pick<Deadline, "key" | "revision">;

export interface DeadlinesOptions {
  readonly clock: Clock;
  /** Reports whether the key still has this revision. */
  readonly isCurrent: (key: string, revision: Revision) => boolean;
  /** Deletes keys that are due; if it fails they are retried. */
  readonly expire: (due: readonly Due[]) => Promise<void>;
}

const maxTimerMilliseconds = 86_400_000;
const retryMilliseconds = 1000;
const duePerTurn = 512;
/** Keys that come due within this time are deleted together: a commit for each would cost more. */
const gatherMilliseconds = 25;
const minFilterSize = 1024;

export class Deadlines {
  readonly #options: DeadlinesOptions;
  readonly #heap = new DeadlineHeap();
  #filterAt = minFilterSize;
  #cancel: (() => void) | undefined;
  #timerAt = Infinity;
  /** By the monotonic clock. */
  #notBefore = -Infinity;
  #busy = false;
  #closed = false;

  constructor(options: DeadlinesOptions) {
    this.#options = options;
  }

  /** Records that a key was written and expires at `at`, in milliseconds since the epoch. */
  add(key: string, revision: Revision, at: number): void {
    this.#heap.push(key, revision, at);
    if (this.#heap.size > this.#filterAt) {
      this.#heap.filter(this.#options.isCurrent);
      this.#filterAt = Math.max(minFilterSize, 2 * this.#heap.size);
    }
    this.#arm();
  }

  /** Like add, for keys written by an earlier process; nothing expires before start(). */
  restore(key: string, revision: Revision, at: number): void {
    this.#heap.push(key, revision, at);
  }

  start(): void {
    this.#filterAt = Math.max(minFilterSize, 2 * this.#heap.size);
    this.#arm();
  }

  /** Returns every key that will expire, with its deadline. */
  entries(): readonly Deadline[] {
    const { isCurrent } = this.#options;
    return [...this.#heap.entries()].filter(({ key, revision }) => isCurrent(key, revision));
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  #arm(): void {
    const { earliest } = this.#heap;
    if (earliest === Infinity || this.#busy || this.#closed) return;
    const { clock } = this.#options;
    const now = clock.now();
    const wait = Math.max(earliest - now, this.#notBefore - clock.monotonic());
    if (this.#cancel && this.#timerAt <= now + wait) return;
    this.#cancel?.();
    this.#timerAt = now + wait;
    this.#cancel = clock.after(Math.min(Math.max(wait, 0), maxTimerMilliseconds), () => void this.#fire());
  }

  async #fire(): Promise<void> {
    this.#cancel = undefined;
    this.#busy = true;
    const { clock } = this.#options;
    for (let due = this.#due(); due.length && !this.#closed; due = this.#due()) {
      try {
        await this.#options.expire(due);
        this.#notBefore = clock.monotonic() + gatherMilliseconds;
      } catch {
        this.#notBefore = clock.monotonic() + retryMilliseconds;
        for (const { key, revision, at } of due) this.#heap.push(key, revision, at);
        break;
      }
    }
    this.#busy = false;
    this.#arm();
  }

  /** Removes some of the keys that are due from the heap and returns those that are still current. */
  #due(): Deadline[] {
    const { clock, isCurrent } = this.#options;
    const due: Deadline[] = [];
    const now = clock.now();
    while (due.length < duePerTurn && this.#heap.earliest <= now) {
      const deadline = this.#heap.pop()!;
      if (isCurrent(deadline.key, deadline.revision)) due.push(deadline);
    }
    return due;
  }
}
