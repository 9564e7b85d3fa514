// Asks a running program again and again until what is waited for is there.
import { setTimeout as sleep } from "node:timers/promises";

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
