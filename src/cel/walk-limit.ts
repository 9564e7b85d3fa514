// Limits work that the reference does not charge for by its size: walks through nested values, which can share
// parts, and through long strings. The reference aborts it at the deadline of the request; here it would block
// all requests.
import { CostExceeded, type Evaluation } from "./evaluation.ts";
import { EvaluationError } from "./values.ts";

/** Cost of visiting a part or a character per unit of its size, the same as that of `==`. */
export const walkFactor = 0.1;

/** Shorter strings, and objects with fewer keys, are measured each time. */
const minKept = 64;
/** An error takes as long as many visits. */
const errorCost = 20;

/** The running evaluation: it is synchronous, and the walks are deep in functions that do not know it. */
let running: Evaluation | undefined;

/** Runs an evaluation; another one may start within it. */
export function withWalkLimit<T>(state: Evaluation, run: () => T): T {
  const outer = running;
  running = state;
  try {
    return run();
  } finally {
    running = outer;
    if (state.sizes.size > 0) state.sizes.clear();
    if (state.keys.size > 0) state.keys.clear();
  }
}

/** Counts the cost of visiting a part of a value, against the limit by itself. */
export function chargeWalk(cost: number): void {
  if (!running) return;
  running.walked += cost;
  if (running.walked > running.limit) throw new CostExceeded();
}

/** Returns a string that a function reads in full, after charging for it. */
export function readWhole(text: string): string {
  if (text.length >= minKept) chargeWalk(text.length * walkFactor);
  return text;
}

const surrogate = /[\ud800-\udfff]/;

/** Returns the number of code points. */
export function codePoints(text: string): number {
  if (text.length < minKept || !running) return countOf(text);
  const known = running.sizes.get(text);
  if (known !== undefined) return known;
  const count = surrogate.test(readWhole(text)) ? countOf(text) : text.length;
  running.sizes.set(text, count);
  return count;
}

function countOf(text: string): number {
  const { length } = text;
  let count = length;
  for (let at = 0; at < length - 1; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}

/** Returns the names of the members of an object. */
export function ownKeys(record: object): readonly string[] {
  const known = running?.keys.get(record);
  if (known) return known;
  const keys = Object.keys(record);
  if (keys.length < minKept) return keys;
  chargeWalk(keys.length);
  running?.keys.set(record, keys);
  return keys;
}

/** Returns the error if it is an evaluation error; otherwise throws it. */
export function absorbed(error: unknown): EvaluationError {
  if (!(error instanceof EvaluationError)) throw error;
  chargeWalk(errorCost);
  return error;
}
