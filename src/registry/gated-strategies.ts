// The strategies that a server serves: without the kinds, and without the fields of later releases, whose
// feature gates are off.
import { type FieldSwitches, gatedFields } from "#api";
import type { Strategy } from "./strategy.ts";
import { withoutSwitchedOff } from "./gated-fields.ts";

export function gatedStrategies(
  strategies: readonly Strategy[],
  switches: FieldSwitches,
): readonly Strategy[] {
  const reduced = gatedFields(switches);
  const enabled = strategies.filter(({ gate }) => gate === undefined || switches.isOn(gate));
  return enabled.map((declared) => {
    const strategy = withoutSwitchedOff(declared, switches.isOn);
    const hub = reduced(strategy.hub);
    if (hub === strategy.hub) return strategy;
    const served = strategy.served?.map((each) => ({ ...each, schema: reduced(each.schema) }));
    return { ...strategy, hub, ...(served && { served }) };
  });
}
