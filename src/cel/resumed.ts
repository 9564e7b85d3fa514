// Runs recursive passes over an expression in steps. A pass keeps its finished parts, throws at the end of a
// step, and descends from the start again, skipping what is finished. This is free for short expressions and
// cheap for long ones, as nesting is limited.
import type { Steps } from "#base";

/** Thrown at the end of a step. */
export const stepEnds = new Error("the step ends");

/** Number of tokens or nodes after which a pass yields to other work. */
export const maxPerStep = 4096;

/** Runs a pass until it completes; `again` prepares it for the next descent. */
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
