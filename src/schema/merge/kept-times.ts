// Avoids storing a write that changes nothing except timestamps of managedFields.

import { type JsonObject, sameJson } from "./json-value.ts";
import { type ManagedFieldsEntry, entriesOf, withManagers, withoutManagers } from "./managed-fields.ts";

/**
 * Outcome of the comparison, as labelled in the metric: found by comparing managers only, or whole objects.
 */
export type TimesComparison = "unequal_objects_fast" | "unequal_objects_slow" | "equal_objects";

/** Returns the new object, with the timestamps of the old managers if nothing else differs. */
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

/** Returns the old managers if they differ from the new ones only in timestamps. */
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
