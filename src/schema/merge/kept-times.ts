// A write that changes nothing must not be stored because its time differs.

import { type JsonObject, sameJson } from "./json-value.ts";
import { type ManagedFieldsEntry, entriesOf, withManagers, withoutManagers } from "./managed-fields.ts";

/** The new object, with the times of the old managers when nothing but these times differs. */
export function keepTimes(before: JsonObject, after: JsonObject): JsonObject {
  const old = entriesOf(before);
  const fresh = entriesOf(after);
  if (
    old === undefined ||
    fresh === undefined ||
    old === fresh ||
    old.length !== fresh.length ||
    fresh.length === 0
  )
    return after;
  if (old.every((entry, i) => entry.time === fresh[i]!.time)) return after;
  if (!old.every((entry, i) => sameButTime(entry, fresh[i]!))) return after;
  return sameJson(withoutManagers(before), withoutManagers(after)) ? withManagers(after, old) : after;
}

function sameButTime(a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean {
  const { time: _a, ...left } = a;
  const { time: _b, ...right } = b;
  return sameJson(left, right);
}
