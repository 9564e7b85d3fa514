// Serves watches from a change log kept elsewhere: each watcher reads at its own pace and waits at the end of
// the log.
//
// A waiting watcher is up to date by definition, so a change outside its range only advances its position. A
// watcher that is not waiting reads the changes it missed from the history, or fails with Compacted.

import { inRange } from "./key-order.ts";
import { type Batch, type Change, Compacted, type Range, type Revision } from "./store.ts";

export interface ChangeLog {
  revision(): Revision;
  compacted(): Revision;
  /**
   * Returns some of the matching changes after `after`, in order, and the revision it has scanned through,
   * which is at least one greater.
   */
  changes(range: Range, after: Revision): Batch | Promise<Batch>;
}

interface Watcher {
  readonly range: Range;
  position: Revision;
  /** Set while the watcher waits. */
  wake: (() => void) | undefined;
  /** The newest progress notification requested and not yet delivered. */
  mark: Revision;
  /** The revision of the last batch or progress notification delivered. */
  notified: Revision;
}

export class WatchHub {
  readonly #history: ChangeLog;
  readonly #watchers = new Set<Watcher>();
  #closed = false;

  constructor(history: ChangeLog) {
    this.#history = history;
  }

  /** Notifies waiting watchers of changes that were just added to the history. */
  publish(changes: readonly Change[]): void {
    const newest = this.#history.revision();
    for (const watcher of this.#watchers) {
      if (!watcher.wake) continue;
      if (changes.some((change) => change.revision > watcher.position && inRange(watcher.range, change.key)))
        wakeUp(watcher);
      else watcher.position = Math.max(watcher.position, newest);
    }
  }

  /**
   * Requests a progress notification at the newest revision for every watcher that has not received one yet:
   * every consistent read calls this.
   */
  mark(): void {
    const newest = this.#history.revision();
    for (const watcher of this.#watchers) {
      if (watcher.notified >= newest) continue;
      watcher.mark = newest;
      wakeUp(watcher);
    }
  }

  async *watch(range: Range, after: Revision, signal: AbortSignal): AsyncGenerator<Batch, void, void> {
    const watcher: Watcher = { range, position: after, wake: undefined, mark: -1, notified: -1 };
    const abort = (): void => wakeUp(watcher);
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
          watcher.notified = batch.through;
          yield batch;
        } else if (watcher.mark >= 0) {
          const through = Math.min(watcher.position, this.#history.revision());
          watcher.mark = -1;
          watcher.notified = through;
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
    for (const watcher of this.#watchers) wakeUp(watcher);
  }
}

// The watcher counts as running from here on, although its loop resumes later: publish must not advance its
// position.
function wakeUp(watcher: Watcher): void {
  const { wake } = watcher;
  watcher.wake = undefined;
  wake?.();
}
