// The second round of mutating plugins: requested when a webhook changed an object that earlier plugins had
// seen.
import { type WriteState, slot } from "./attributes.ts";

/** Absent in the first round. */
type Round = "again" | "second";

const round = slot<Round | undefined>("admission round");

export const reinvocation = {
  /** Starts the next attempt of a write and resets per-attempt state. */
  reset: (state: WriteState): void => {
    if (state.get(round)) state.set(round, undefined);
  },
  /** Requests a second round; there is never a third. */
  request: (state: WriteState): void => {
    if (state.get(round) !== "second") state.set(round, "again");
  },
  isSecond: (state: WriteState): boolean => state.get(round) === "second",
  /** Begins the second round, if it was requested. */
  begin: (state: WriteState): boolean => {
    if (state.get(round) !== "again") return false;
    state.set(round, "second");
    return true;
  },
};
