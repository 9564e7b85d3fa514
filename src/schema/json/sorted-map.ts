// Maps are written with their keys in order, so that the same content is always the same bytes.

/** The map itself when its keys are in order, else a copy that is. Keys that are array indices come first in any object; they stay there. */
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
  const keys = Object.keys(map).sort();
  return Object.fromEntries(keys.map((key) => [key, (map as Record<string, unknown>)[key]])) as T;
}
