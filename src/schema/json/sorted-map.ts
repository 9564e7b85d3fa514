// Maps are written with sorted keys, so that equal content is always encoded as the same bytes.
import { setOwn } from "#base";

/**
 * Returns the map itself if its keys are sorted, otherwise a sorted copy. Keys that are array indices always
 * come first in a JS object.
 */
export function sortedMap<T extends object>(map: T): T {
  let last = "";
  for (const key in map) {
    if (key < last && !isIndex.test(last)) return sortedCopy(map);
    last = key;
  }
  return map;
}

const isIndex = /^(?:0|[1-9]\d{0,9})$/;

function sortedCopy<T extends object>(map: T): T {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(map).sort()) setOwn(copy, key, (map as Record<string, unknown>)[key]);
  return copy as T;
}
