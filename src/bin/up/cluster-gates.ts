// The feature gates of a cluster: one setting for all of its parts. Each part logs the gates that have no
// effect in it.
import { firstRelease, minorOf } from "#base";
import type { Dialect } from "#dialect";
import { type GivenGates, featureGates, gatesOption, knownGates } from "#options";

export const clusterGatesOption = (dialect: Dialect) => ({
  ...gatesOption(dialect),
  doc: "Pairs Name=true or Name=false that set feature gates of all parts; AllAlpha and AllBeta set a whole stage.",
});

/** Returns the flag that passes the release on to the API server, unless it is the default. */
export const releaseFlags = (release: string): string[] =>
  minorOf(release) === firstRelease ? [] : [`--release=${release}`];

/** Returns the flag that passes the gates on to a program, if there are any. */
export const gateFlags = (dialect: Dialect, gates: GivenGates): string[] =>
  Object.keys(gates).length === 0
    ? []
    : [`--feature-gates=${featureGates(knownGates, dialect).format(gates)}`];
