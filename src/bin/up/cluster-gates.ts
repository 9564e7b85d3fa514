// The feature gates of a cluster: one setting for all of its parts. Which gates have no effect in a part is told in
// the log of that part.
import type { Dialect } from "#dialect";
import { type GivenGates, featureGates, gatesOption, knownGates } from "#options";

export const clusterGatesOption = (dialect: Dialect) => ({
  ...gatesOption(dialect),
  doc: "Pairs Name=true or Name=false that switch features of all parts; AllAlpha and AllBeta speak for a whole stage.",
});

/** The flag with which they are handed on to a program, where there are any. */
export const gateFlags = (dialect: Dialect, gates: GivenGates): string[] =>
  Object.keys(gates).length === 0
    ? []
    : [`--feature-gates=${featureGates(knownGates, dialect).format(gates)}`];
