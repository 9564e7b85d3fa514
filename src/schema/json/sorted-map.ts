// Maps are written with their keys in order, so that the same content is always the same bytes.
import { setOwn } from "#base";

/**
 * The map itself when its keys are in order, else a copy that is. Keys that are array indices come first in
 * any object; they stay there.
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
