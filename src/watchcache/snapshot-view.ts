// The state at an earlier revision: the current state with all later changes undone.
//
//   now     a3 b5 d6        since 4: b4→b5, c2 deleted, d added
//   at 4    a3 b4 c2
import type { SortedMap } from "#base";
import type { Change } from "./frame.ts";
import type { CachedObject } from "./cached-object.ts";
import type { OrderedItems } from "./page.ts";

export class SnapshotView implements OrderedItems {
  readonly #now: SortedMap<CachedObject>;
  /** The earlier state of each key that changed since; undefined if it did not exist. */
  readonly #then = new Map<string, CachedObject | undefined>();

  constructor(now: SortedMap<CachedObject>, later: readonly Change[]) {
    this.#now = now;
    // The oldest change of a key determines its earlier state.
    for (const change of later.toReversed()) this.#then.set(change.item.key, change.previous);
  }

  get(key: string): CachedObject | undefined {
    return this.#then.has(key) ? this.#then.get(key) : this.#now.get(key);
  }

  scan(prefix: string, after: string | undefined, visit: (item: CachedObject) => boolean | void): void {
    const restored = [...this.#then.values()]
      .filter((item) => item !== undefined)
      .filter(({ key }) => key.startsWith(prefix) && (after === undefined || key > after))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    let at = 0;
    let over = false;
    const until = (key: string | undefined): void => {
      while (!over && at < restored.length && (key === undefined || restored[at]!.key < key))
        over = visit(restored[at++]!) === false;
    };
    this.#now.scan(prefix, after, (item) => {
      until(item.key);
      if (!over && !this.#then.has(item.key)) over = visit(item) === false;
      return !over;
    });
    until(undefined);
  }

  count(prefix: string, after?: string): number {
    let count = this.#now.count(prefix, after);
    for (const [key, item] of this.#then) {
      if (!key.startsWith(prefix) || (after !== undefined && key <= after)) continue;
      count += (item ? 1 : 0) - (this.#now.get(key) ? 1 : 0);
    }
    return count;
  }
}
