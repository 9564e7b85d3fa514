// JSON Merge Patch (RFC 7386): null deletes, objects merge, everything else replaces. Nulls inside replaced
// values are dropped.
//
// The result shares with the document everything that the patch leaves unchanged; a patch without effect
// returns the document itself.

import { setOwn } from "#base";
import { type Json, type JsonObject, has, isList, isObject, own, sameJson } from "./json-value.ts";
import { malformed } from "./patch-error.ts";

/** Merges a parsed patch into an object. Throws a PatchError if the patch is not an object. */
export function mergePatch(document: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) throw malformed("a merge patch must be a JSON object");
  return mergeObjects(document, patch);
}

function mergeObjects(document: JsonObject, patch: JsonObject): JsonObject {
  let result: Record<string, Json> | undefined;
  const copy = (): Record<string, Json> => (result ??= { ...document });
  for (const key in patch) {
    const value = patch[key]!;
    if (value === null) {
      if (has(document, key)) delete copy()[key];
      continue;
    }
    const before = own(document, key);
    const after =
      isObject(before) && isObject(value)
        ? mergeObjects(before, value)
        : isObject(before)
          ? value
          : withoutNulls(value);
    if (before === undefined || (before !== after && !sameJson(before, after))) setOwn(copy(), key, after);
  }
  return result ?? document;
}

/** Returns the value without null-valued keys at any depth. Nulls that are list items stay. */
export function withoutNulls(value: Json): Json {
  if (isList(value)) {
    const items = value.map(withoutNulls);
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  if (!isObject(value)) return value;
  let changed = false;
  const copy: Record<string, Json> = {};
  for (const key in value) {
    const before = value[key]!;
    if (before === null) {
      changed = true;
      continue;
    }
    const after = withoutNulls(before);
    if (after !== before) changed = true;
    setOwn(copy, key, after);
  }
  return changed ? copy : value;
}
