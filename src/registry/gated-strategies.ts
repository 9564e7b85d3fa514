// The strategies that a server serves: without the kinds, and without the fields of later releases, whose
// feature gates are off.
import { type FieldSwitches, gatedFields } from "#api";
import type { Strategy } from "./strategy.ts";
import { withoutSwitchedOff } from "./gated-fields.ts";

export interface KindSwitches extends FieldSwitches {
  /** The minor release whose versions are served. */
  readonly release: number;
}

export function gatedStrategies(
  strategies: readonly Strategy[],
  switches: KindSwitches,
): readonly Strategy[] {
  const reduced = gatedFields(switches);
  const enabled = strategies.filter(({ gate }) => gate === undefined || switches.isOn(gate));
  return enabled.map((declared) => {
    const strategy = withoutSwitchedOff(inRelease(declared, switches.release), switches.isOn);
    const hub = reduced(strategy.hub);
    if (hub === strategy.hub) return strategy;
    const served = strategy.served?.map((each) => ({ ...each, schema: reduced(each.schema) }));
    return { ...strategy, hub, ...(served && { served }) };
  });
}

/** Returns the strategy without the versions of later releases, and without the deprecations by them. */
function inRelease(strategy: Strategy, release: number): Strategy {
  const isLater = (minor: number | undefined): boolean => minor !== undefined && minor > release;
  if (!strategy.served?.some(({ since, deprecated }) => isLater(since) || isLater(deprecated?.from)))
    return strategy;
  const served = strategy.served
    .filter(({ since }) => !isLater(since))
    .map(({ deprecated, ...each }) =>
      deprecated && !isLater(deprecated.from) ? { ...each, deprecated } : each,
    );
  return { ...strategy, served };
}
