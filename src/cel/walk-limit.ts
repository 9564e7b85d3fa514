// Limits walks through nested values. The reference charges for the outermost list or map only, but lists can
// share elements: a few loops build one with more parts than can be visited.
import { CostExceeded, type Evaluation } from "./evaluation.ts";

/** Cost of visiting a part per unit of its size, the same as that of `==`. */
export const walkFactor = 0.1;

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
  }
}

/** Counts the cost of visiting a part of a value, against the limit by itself. */
export function chargeWalk(cost: number): void {
  if (!running) return;
  running.walked += cost;
  if (running.walked > running.limit) throw new CostExceeded();
}
