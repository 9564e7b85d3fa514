// Serves watches from a change log that is kept elsewhere: each watcher reads at its own pace and waits at its end.
//
// A watcher that waits is up to date by definition, so a change that does not concern it only moves its
// position. One that is busy elsewhere finds what it missed in the history, or learns that it was compacted.

import { inRange } from "./key-order.ts";
import { type Batch, type Change, Compacted, type Range, type Revision } from "./store.ts";

export interface ChangeLog {
  revision(): Revision;
  compacted(): Revision;
  /**
   * Some of the matching changes behind `after`, in order, and how far it looked; at least one revision
   * further.
   */
  changes(range: Range, after: Revision): Batch | Promise<Batch>;
}

interface Watcher {
  readonly range: Range;
  position: Revision;
  /** Set while the watcher waits. */
  wake: (() => void) | undefined;
  /** The newest mark asked for and not yet passed on. */
  mark: Revision;
  /** What it was last told to have everything through. */
  told: Revision;
}

export class WatchHub {
  readonly #history: ChangeLog;
  readonly #watchers = new Set<Watcher>();
  #closed = false;

  constructor(history: ChangeLog) {
    this.#history = history;
  }

  /** Tells waiting watchers what has just been added to the history. */
  publish(changes: readonly Change[]): void {
    const newest = this.#history.revision();
    for (const watcher of this.#watchers) {
      if (!watcher.wake) continue;
      if (changes.some((change) => change.revision > watcher.position && inRange(watcher.range, change.key)))
        rouse(watcher);
      else watcher.position = Math.max(watcher.position, newest);
    }
  }

  /**
   * Gives every watcher a mark at the newest revision, unless it has been told of it already: every
   * consistent read asks.
   */
  mark(): void {
    const newest = this.#history.revision();
    for (const watcher of this.#watchers) {
      if (watcher.told >= newest) continue;
      watcher.mark = newest;
      rouse(watcher);
    }
  }

  async *watch(range: Range, after: Revision, signal: AbortSignal): AsyncGenerator<Batch, void, void> {
    const watcher: Watcher = { range, position: after, wake: undefined, mark: -1, told: -1 };
    const abort = (): void => rouse(watcher);
    signal.addEventListener("abort", abort, { once: true });
    this.#watchers.add(watcher);
    try {
      while (!signal.aborted && !this.#closed) {
        const compacted = this.#history.compacted();
        if (watcher.position < compacted) throw new Compacted(compacted);
        if (watcher.position < this.#history.revision()) {
          const batch = await this.#history.changes(range, watcher.position);
          watcher.position = batch.through;
          if (batch.changes.length === 0 || signal.aborted) continue;
          if (watcher.mark <= batch.through) watcher.mark = -1;
          watcher.told = batch.through;
          yield batch;
        } else if (watcher.mark >= 0) {
          const through = Math.min(watcher.position, this.#history.revision());
          watcher.mark = -1;
          watcher.told = through;
          yield { changes: [], through };
        } else {
          await new Promise<void>((resolve) => (watcher.wake = resolve));
        }
      }
    } finally {
      signal.removeEventListener("abort", abort);
      this.#watchers.delete(watcher);
    }
  }

  /** Ends every watch. */
  close(): void {
    this.#closed = true;
    for (const watcher of this.#watchers) rouse(watcher);
  }
}

// From here on the watcher no longer waits, though it runs only later: its position must not be moved for it.
function rouse(watcher: Watcher): void {
  const { wake } = watcher;
  watcher.wake = undefined;
  wake?.();
}
