// Recursive passes over an expression in steps. A pass keeps what it has finished, throws where a step ends, and
// descends from the beginning again, past what is finished. That costs a short expression nothing, and a long one
// little: expressions are not deep.
import type { Steps } from "#base";

/** Thrown where a step ends. */
export const stepEnds = new Error("the step ends");

/** Others have their turn after so many tokens or nodes. */
export const mostPerStep = 4096;

/** Runs a pass until it ends by itself; `again` makes it ready for the next descent. */
export function* resumed<T>(pass: () => T, again: () => void): Steps<T> {
  while (true) {
    try {
      return pass();
    } catch (error) {
      if (error !== stepEnds) throw error;
    }
    yield;
    again();
  }
}
