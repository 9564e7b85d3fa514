// A write that changes nothing must not be stored because its time differs.

import { type JsonObject, sameJson } from "./json-value.ts";
import { type ManagedFieldsEntry, entriesOf, withManagers, withoutManagers } from "./managed-fields.ts";

/** How it was found out, in the words of the metric: by the managers alone, or by the whole objects. */
export type TimesComparison = "unequal_objects_fast" | "unequal_objects_slow" | "equal_objects";

/** The new object, with the times of the old managers when nothing but these times differs. */
export function keepTimes(
  before: JsonObject,
  after: JsonObject,
  compared?: (outcome: TimesComparison) => void,
): JsonObject {
  const old = onlyTimesChanged(before, after);
  if (!old) {
    compared?.("unequal_objects_fast");
    return after;
  }
  const same = sameJson(withoutManagers(before), withoutManagers(after));
  compared?.(same ? "equal_objects" : "unequal_objects_slow");
  return same ? withManagers(after, old) : after;
}

/** The managers as they were, where they differ in nothing but times. */
function onlyTimesChanged(before: JsonObject, after: JsonObject): ReturnType<typeof entriesOf> {
  const old = entriesOf(before);
  const fresh = entriesOf(after);
  if (
    old === undefined ||
    fresh === undefined ||
    old === fresh ||
    old.length !== fresh.length ||
    fresh.length === 0
  )
    return undefined;
  if (old.every((entry, i) => entry.time === fresh[i]!.time)) return undefined;
  return old.every((entry, i) => sameButTime(entry, fresh[i]!)) ? old : undefined;
}

function sameButTime(a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean {
  const { time: _a, ...left } = a;
  const { time: _b, ...right } = b;
  return sameJson(left, right);
}
