// Merging and ordering of lists in a strategic merge patch.
//
// Items of the patch keep the patch's order and items only in the live list keep theirs. The two are
// interleaved by their positions in the live list, where known.

import { type Json, type JsonObject, has, isList, isObject } from "./json-value.ts";
import { doesNotApply, malformed } from "./patch-error.ts";

type Items = readonly Json[];

/** How a patch applies to a list. */
export interface ListRule {
  readonly strategy: "merge" | "replace" | undefined;
  /** The merge key that identifies items; undefined for scalars. */
  readonly key: string | undefined;
  readonly mergeItem: (live: JsonObject, patch: JsonObject) => JsonObject;
}

/** Merges a patch list into a live list whose strategy is `merge`. */
export function mergeList(rule: ListRule, live: Items, patch: Items): Items {
  if (live.length === 0 && patch.length === 0) return live;
  if (itemsOf(live, patch) === "scalar") {
    const merged = [...new Set([...live, ...patch])];
    return arrange(merged, patch, live, undefined);
  }
  const key = rule.key;
  if (key === undefined) throw malformed("cannot merge lists without merge key");
  const { kept, changes } = directives(live as readonly JsonObject[], patch as readonly JsonObject[], key);
  const merged: JsonObject[] = [...kept];
  const places = new Map<Json | undefined, number>();
  for (let i = kept.length - 1; i >= 0; i--) places.set(kept[i]![key], i);
  for (const change of changes) {
    const at = places.get(keyOf(change, key));
    if (at !== undefined) merged[at] = rule.mergeItem(merged[at]!, change);
    else places.set(change[key], merged.push(change) - 1);
  }
  return arrange(merged, changes, kept, key);
}

/**
 * Merges a patch list and sorts the result in the order the patch requests. Returns undefined if neither list
 * exists.
 */
export function orderList(
  rule: ListRule,
  live: Items | undefined,
  patch: Items | undefined,
  order: Items,
): Items | undefined {
  if (patch !== undefined) checkOrder(patch, order, rule.key);
  if (live === undefined && patch === undefined) return undefined;
  const both = [...(live ?? []), ...(patch ?? [])];
  if (both.length === 0) throw malformed("a list without items has no order");
  itemsOf(both, order);
  const merged =
    live === undefined
      ? patch!
      : patch === undefined
        ? live
        : rule.strategy === "merge"
          ? mergeList(rule, live, patch)
          : patch;
  return arrange(merged, order, live ?? [], rule.key);
}

/**
 * Applies `$patch` items: deletes items of the live list, or replaces it with the plain items of the patch.
 */
function directives(
  live: readonly JsonObject[],
  patch: readonly JsonObject[],
  key: string,
): { kept: readonly JsonObject[]; changes: readonly JsonObject[] } {
  const changes: JsonObject[] = [];
  const deleted = new Set<Json | undefined>();
  let replace = false;
  for (const item of patch) {
    if (!has(item, "$patch")) changes.push(item);
    else if (item.$patch === "delete") deleted.add(keyOf(item, key));
    else if (item.$patch === "replace") replace = true;
    else if (item.$patch === "merge") throw malformed("merging lists cannot yet be specified in the patch");
    else throw unknownDirective(item.$patch);
  }
  if (replace) return { kept: changes, changes: [] };
  return { kept: deleted.size === 0 ? live : live.filter((item) => !deleted.has(item[key])), changes };
}

export const unknownDirective = (directive: Json | undefined): Error =>
  malformed(`unknown patch type: ${JSON.stringify(directive)}; $patch may be "delete" or "replace"`);

function keyOf(item: Json, key: string): Json {
  if (!isObject(item)) throw malformed("an item of a merging list must be an object");
  if (!has(item, key)) throw malformed(`map does not contain declared merge key: ${key}`);
  return item[key]!;
}

const identity = (item: Json, key: string | undefined): Json => (key === undefined ? item : keyOf(item, key));

/**
 * Sorts items listed in `wanted` in that order and the others in live order, and interleaves the two by their
 * live positions.
 */
function arrange(merged: Items, wanted: Items, live: Items, key: string | undefined): Items {
  const wantedAt = positions(wanted, key);
  const liveAt = positions(live, key);
  const listed: Ranked[] = [];
  const others: Ranked[] = [];
  for (const item of merged) {
    const id = identity(item, key);
    const rank = wantedAt.get(id);
    const liveRank = liveAt.get(id);
    if (rank === undefined) others.push({ item, rank: liveRank ?? Number.MAX_SAFE_INTEGER, liveRank });
    else listed.push({ item, rank, liveRank });
  }
  return interleave(others.toSorted(byRank), listed.toSorted(byRank));
}

interface Ranked {
  readonly item: Json;
  readonly rank: number;
  readonly liveRank: number | undefined;
}

const byRank = (a: Ranked, b: Ranked): number => a.rank - b.rank;

function interleave(others: readonly Ranked[], listed: readonly Ranked[]): Items {
  const result: Json[] = [];
  let i = 0;
  for (const next of listed) {
    while (i < others.length && precedes(others[i]!, next)) result.push(others[i++]!.item);
    result.push(next.item);
  }
  while (i < others.length) result.push(others[i++]!.item);
  return result;
}

const precedes = (a: Ranked, b: Ranked): boolean =>
  a.liveRank !== undefined && b.liveRank !== undefined && a.liveRank < b.liveRank;

function positions(items: Items, key: string | undefined): Map<Json, number> {
  const at = new Map<Json, number>();
  items.forEach((item, i) => {
    const id = identity(item, key);
    if (!at.has(id)) at.set(id, i);
  });
  return at;
}

/** Checks that every item of the patch occurs in the order list, in the same sequence. */
function checkOrder(patch: Items, order: Items, key: string | undefined): void {
  if (patch.length === 0 || order.length === 0) return;
  const plain = key === undefined ? patch : patch.filter((item) => !isObject(item) || !has(item, "$patch"));
  let found = 0;
  for (const item of order) {
    if (found < plain.length && identity(plain[found]!, key) === identity(item, key)) found++;
  }
  if (found < plain.length)
    throw malformed("the order in the patch list does not match its $setElementOrder list");
}

/** Checks that all items have the same type: objects, or scalars of one type. */
function itemsOf(...lists: readonly Items[]): "object" | "scalar" {
  const kinds = new Set<string>();
  for (const items of lists) {
    for (const item of items) {
      if (isList(item)) throw doesNotApply("lists of lists are not supported");
      kinds.add(item === null ? "null" : typeof item);
    }
  }
  if (kinds.size > 1 || kinds.has("null")) throw malformed("list element types are not identical");
  return kinds.has("object") ? "object" : "scalar";
}
