// Ends every time slice at once, and counts how often other work runs.
import type { TestContext } from "node:test";

/**
 * Makes the clock of time slices advance by more than a slice with each reading. Returns a function that stops counting
 * and returns the number of turns of the event loop since.
 */
export function endSlices(t: TestContext): () => number {
  let now = 0;
  t.mock.method(performance, "now", () => (now += 10));
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  return () => {
    clearImmediate(next);
    return turns;
  };
}
