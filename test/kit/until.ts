// Polls a running program until a condition holds.
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { VirtualClock } from "#base";

const patienceSeconds = 120;

/** Returns the result of `look` once it is truthy. `what` describes the condition in the error on timeout. */
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

/** Polls without a pause; a condition that needs more depends on time or on another process. */
const quickAsks = 50;

/**
 * Polls a condition of this process at each turn of the event loop, later every other millisecond. Advances
 * the virtual clock, if one is given, between polls.
 */
export async function eventually<T>(
  ask: () => Promise<T | undefined | false>,
  { clock, milliseconds = 100 }: { readonly clock?: VirtualClock; readonly milliseconds?: number } = {},
): Promise<T> {
  const deadline = Date.now() + patienceSeconds * 1000;
  for (let polls = 0; Date.now() < deadline; polls++) {
    const found = await ask();
    if (found) return found;
    await clock?.advance(milliseconds);
    await (clock || polls < quickAsks ? immediate() : sleep(2));
  }
  throw new Error(`not within ${patienceSeconds} s: ${String(ask)}`);
}
