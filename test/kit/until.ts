// Asks a running program again and again until what is waited for is there.
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { VirtualClock } from "#base";

const patienceSeconds = 120;

/** Gives what the look finds. `what` is waited for, as it is told when it does not come. */
export async function until<T>(
  what: string | (() => Promise<string>),
  look: () => Promise<T | undefined | false>,
): Promise<T> {
  for (const deadline = Date.now() + patienceSeconds * 1000; Date.now() < deadline; await sleep(100)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`not within ${patienceSeconds} s: ${typeof what === "string" ? what : await what()}`);
}

/** Asks that follow each other at once; what is not there by then waits for time or for another program. */
const quickAsks = 50;

/**
 * For what happens in this process: asks at each turn of the event loop, later every other millisecond. A virtual
 * clock that is given moves on between asks.
 */
export async function eventually<T>(
  ask: () => Promise<T | undefined | false>,
  { clock, milliseconds = 100 }: { readonly clock?: VirtualClock; readonly milliseconds?: number } = {},
): Promise<T> {
  const deadline = Date.now() + patienceSeconds * 1000;
  for (let asked = 0; Date.now() < deadline; asked++) {
    const found = await ask();
    if (found) return found;
    await clock?.advance(milliseconds);
    await (clock || asked < quickAsks ? immediate() : sleep(2));
  }
  throw new Error(`not within ${patienceSeconds} s: ${String(ask)}`);
}
