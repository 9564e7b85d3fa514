// Merges an applied configuration into a live object: nothing is removed, the configuration's leaves win, and
// its list order is kept while items only in the live list stay in place.

import { setOwn } from "#base";
import { type Json, isEmptyObject, isList, isObject, own } from "./json-value.ts";
import { itemsByElement, noItems } from "./list-items.ts";
import { type ListType, type MergeType, typeUnder } from "./merge-type.ts";

/** Merges a configuration into a live value. Throws a TypedError for ambiguous list items. */
export function mergeTyped(
  type: MergeType,
  live: Json | undefined,
  config: Json | undefined,
): Json | undefined {
  if (config === undefined || live === config) return live;
  if (live === undefined) return config;
  switch (type.is) {
    case "scalar":
      return config;
    case "struct":
    case "map":
      return type.atomic ? config : mergeEntries(type, live, config);
    case "list":
      return type.relation === "atomic" ? config : mergeLists(type, live, config);
    case "any":
      return isObject(live) && (isObject(config) || config === null)
        ? mergeEntries(type, live, config)
        : config;
  }
}

function mergeEntries(type: MergeType, live: Json, config: Json): Json {
  if (!isObject(live) || isEmptyObject(live)) return config;
  if (!isObject(config) || isEmptyObject(config)) return live;
  let result: Record<string, Json> | undefined;
  for (const key in config) {
    const before = own(live, key);
    const after = mergeTyped(typeUnder(type, key), before, config[key])!;
    if (after !== before) setOwn((result ??= { ...live }), key, after);
  }
  return result ?? live;
}

function mergeLists(type: ListType, live: Json, config: Json): Json {
  const left = isList(live) ? itemsByElement(type, live) : noItems;
  const right = isList(config) ? itemsByElement(type, config) : noItems;
  if (left.size === 0) return config;
  if (right.size === 0) return live;
  const merged = mergedOrder([...left.keys()], [...right.keys()]).map((element) =>
    mergeTyped(type.of, left.get(element), right.get(element))!,
  );
  return isList(live) && merged.length === live.length && merged.every((item, i) => item === live[i])
    ? live
    : merged;
}

/**
 * Returns the configuration's items in its order; an item only in the live list stays ahead of the next
 * shared
 * item that follows it.
 *
 *   live a b c d, configuration d x b   result  a c d x b
 */
export function mergedOrder(live: readonly string[], config: readonly string[]): string[] {
  const inLive = new Set(live);
  const inConfig = new Set(config);
  const shared = config.filter((element) => inLive.has(element));
  const order: string[] = [];
  let nextShared = 0;
  let l = 0;
  let c = 0;
  while (l < live.length || c < config.length) {
    if (l < live.length && c < config.length) {
      if (live[l] === config[c]) {
        order.push(live[l]!);
        l++;
        c++;
        nextShared++;
        continue;
      }
      if (inConfig.has(live[l]!) && nextShared < shared.length && shared[nextShared] !== live[l]) {
        l++;
        continue;
      }
    }
    if (l < live.length && !inConfig.has(live[l]!)) {
      order.push(live[l++]!);
      continue;
    }
    if (c < config.length) {
      const element = config[c++]!;
      order.push(element);
      if (shared[nextShared] === element) nextShared++;
      continue;
    }
    // A shared item that has already been placed in the configuration's order.
    l++;
  }
  return order;
}
