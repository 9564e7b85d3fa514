// The second round of mutating plugins: asked for when a webhook changed what the plugins before it had seen.
import { type WriteState, slot } from "./attributes.ts";

/** Absent in the first round. */
type Round = "again" | "second";

const round = slot<Round | undefined>("admission round");

export const reinvocation = {
  /** A write begins anew. */
  reset: (state: WriteState): void => {
    if (state.get(round)) state.set(round, undefined);
  },
  /** Asks for a second round; there is no third. */
  request: (state: WriteState): void => {
    if (state.get(round) !== "second") state.set(round, "again");
  },
  isSecond: (state: WriteState): boolean => state.get(round) === "second",
  /** Begins the second round, if one was asked for. */
  begin: (state: WriteState): boolean => {
    if (state.get(round) !== "again") return false;
    state.set(round, "second");
    return true;
  },
};
