// Long synchronous work as a generator that yields wherever other work may run. The same code can also run to
// completion at once, for callers that are synchronous.
import { type Caller, TimeSlice } from "./time-slice.ts";

export type Steps<T> = Generator<undefined, T>;

/**
 * Runs the steps in time slices, yielding to the event loop in between. Steps may be long, so the clock is
 * read after each.
 */
export async function runSteps<T>(steps: Steps<T>, caller?: Caller): Promise<T> {
  const work = new TimeSlice(caller);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (work.expired) await work.yield();
  }
}

/** Runs all steps synchronously. */
export function finishSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
