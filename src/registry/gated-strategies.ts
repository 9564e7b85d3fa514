// Kinds as a server with certain feature gates has them: without the fields of later releases that are off.
import { gatedFields } from "#api";
import type { Strategy } from "./strategy.ts";

export function gatedStrategies(
  strategies: readonly Strategy[],
  isOn: (gate: string) => boolean,
): readonly Strategy[] {
  const reduced = gatedFields(isOn);
  return strategies.map((strategy) => {
    const hub = reduced(strategy.hub);
    if (hub === strategy.hub) return strategy;
    const served = strategy.served?.map((each) => ({ ...each, schema: reduced(each.schema) }));
    return { ...strategy, hub, ...(served && { served }) };
  });
}
