// Long synchronous work as steps: a generator that yields wherever others may have their turn. The same code runs
// at once for those who cannot wait.
import { type Caller, TimeSlice } from "./time-slice.ts";

export type Steps<T> = Generator<undefined, T>;

/** Runs the steps in time slices, giving way between them. Steps may be long, so the clock is read after each. */
export async function runSteps<T>(steps: Steps<T>, caller?: Caller): Promise<T> {
  const work = new TimeSlice(caller);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (work.expired) await work.yield();
  }
}

/** Runs the steps without giving way. */
export function finishSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
