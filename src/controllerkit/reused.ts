// Results that are loaded again only after a while.
import type { Clock } from "#base";

/** Returns a function that loads a result and reuses it for the given time; an error is not reused. */
export function reused<T>(clock: Clock, milliseconds: number, load: () => Promise<T>): () => Promise<T> {
  let current: { readonly result: Promise<T>; readonly until: number } | undefined;
  return () => {
    if (!current || clock.monotonic() >= current.until) {
      const fresh = { result: load(), until: clock.monotonic() + milliseconds };
      current = fresh;
      fresh.result.catch(() => {
        if (current === fresh) current = undefined;
      });
    }
    return current.result;
  };
}
