// Strategic merge patch: a merge patch that takes from the schema which lists merge, and by which key.
//
//   containers: [{ name: a, image: x }]              merges into the item named a, or adds it
//   containers: [{ name: a, $patch: delete }]        removes that item
//   containers: [{ $patch: replace }, …]             replaces the list;   { $patch: replace, … } a map
//   $deleteFromPrimitiveList/finalizers: [x]         removes values from a merging list of scalars
//   $setElementOrder/containers: [{ name: b }, …]    orders the merged list
//   $retainKeys: [type]                              drops every other key of the map
//
// The result is plain JSON that still has to be decoded: fields that the schema does not declare are kept.

import { setOwn } from "#base";
import type { Message, Shape } from "../shape.ts";
import { type Json, type JsonObject, has, isList, isObject, own } from "./json-value.ts";
import { jsonFields, resolved } from "./message-fields.ts";
import { withoutNulls } from "./merge-patch.ts";
import { malformed } from "./patch-error.ts";
import { type ListRule, mergeList, orderList, unknownDirective } from "./strategic-list.ts";

const deletionPrefix = "$deleteFromPrimitiveList";
const orderPrefix = "$setElementOrder";

/** Merges a parsed patch into an object of the schema. Throws a PatchError. */
export function strategicMergePatch(schema: Message, document: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) throw malformed("a strategic merge patch must be a JSON object");
  return mergeMaps(schema, document, patch);
}

function mergeMaps(shape: Shape, original: JsonObject, patch: JsonObject): JsonObject {
  if (has(patch, "$patch")) return replacedMap(patch);
  const result: Record<string, Json> = { ...retained(original, patch) };
  const ordered = applyOrders(shape, result, patch);
  for (const key in patch) {
    if (key === "$retainKeys" || key.startsWith(orderPrefix) || ordered.has(key)) continue;
    const value = patch[key]!;
    if (key.startsWith(deletionPrefix)) removeValues(shape, result, fieldNamed(key, deletionPrefix), value);
    else if (value === null) delete result[key];
    else setOwn(result, key, mergedValue(shape, key, own(result, key), value));
  }
  return result;
}

function replacedMap(patch: JsonObject): JsonObject {
  const { $patch: directive, ...rest } = patch;
  if (directive === "replace") return rest;
  if (directive === "delete") return {};
  throw unknownDirective(directive);
}

function mergedValue(shape: Shape, key: string, before: Json | undefined, value: Json): Json {
  if (isObject(before) && isObject(value)) {
    const field = lookUp(shape, key);
    return field.strategy === "replace" ? value : mergeMaps(field.shape, before, value);
  }
  if (isList(before) && isList(value)) {
    const field = lookUpList(shape, key);
    return field.strategy === "merge" ? mergeList(field, before, value) : value;
  }
  return withoutNulls(value);
}

function removeValues(shape: Shape, result: Record<string, Json>, key: string, values: Json): void {
  if (values === null) delete result[key];
  const before = own(result, key);
  if (!isList(before) || !isList(values)) return;
  const field = lookUpList(shape, key);
  const deleted = new Set(values);
  if (field.strategy !== "merge") setOwn(result, key, values);
  else if (before.some(isObject) || values.some(isObject))
    setOwn(result, key, mergeList(field, before, values));
  else
    setOwn(
      result,
      key,
      before.filter((each) => !deleted.has(each)),
    );
}

/**
 * Returns the original with only the keys listed in `$retainKeys`. Every key that the patch sets must be
 * listed.
 */
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keys = own(patch, "$retainKeys");
  if (keys === undefined) return original;
  if (!isList(keys)) throw badRetainKeys();
  const named = new Set(keys);
  for (const key in patch) {
    if (
      key === "$retainKeys" ||
      patch[key] === null ||
      key.startsWith(deletionPrefix) ||
      key.startsWith(orderPrefix)
    )
      continue;
    if (!named.has(key)) throw badRetainKeys();
  }
  const kept: Record<string, Json> = {};
  for (const key in original) if (named.has(key)) setOwn(kept, key, original[key]);
  return kept;
}

const badRetainKeys = (): Error => malformed("invalid patch format of retainKeys");

/**
 * Merges and orders each list that has an order directive; returns the fields that need no further merging.
 */
function applyOrders(shape: Shape, result: Record<string, Json>, patch: JsonObject): ReadonlySet<string> {
  const done = new Set<string>();
  for (const directive in patch) {
    if (!directive.startsWith(orderPrefix)) continue;
    const order = patch[directive];
    const key = fieldNamed(directive, orderPrefix);
    if (!isList(order)) throw badOrder();
    const before = own(result, key);
    const change = own(patch, key);
    if ((before !== undefined && !isList(before)) || (change !== undefined && !isList(change)))
      throw badOrder();
    const merged = orderList(lookUpList(shape, key), before, change, order);
    if (merged === undefined) continue;
    setOwn(result, key, merged);
    done.add(key);
  }
  return done;
}

const badOrder = (): Error => malformed("invalid patch format of setElementOrder list");

function fieldNamed(directive: string, prefix: string): string {
  const slash = directive.indexOf("/");
  if (slash !== prefix.length)
    throw prefix === orderPrefix ? badOrder() : malformed("invalid patch format of primitive list");
  return directive.slice(slash + 1);
}

interface PatchField {
  readonly shape: Shape;
  readonly strategy: "merge" | "replace" | undefined;
  readonly key: string | undefined;
}

function lookUp(shape: Shape, key: string): PatchField {
  const parent = resolved(shape);
  if (parent.shape !== "message")
    throw malformed(`${key}: a map of such values cannot be merged; use a merge patch or replace it`);
  const field = jsonFields(parent).get(key);
  if (field === undefined)
    throw malformed(
      `unable to find api field in struct ${parent.name} for the json field ${JSON.stringify(key)}`,
    );
  const { strategy, key: mergeKey } = field.more.patch ?? {};
  return {
    shape: resolved(field.shape),
    strategy: strategy === "merge,retainKeys" ? "merge" : strategy === "retainKeys" ? undefined : strategy,
    key: mergeKey,
  };
}

function lookUpList(shape: Shape, key: string): ListRule {
  const { shape: list, strategy, key: mergeKey } = lookUp(shape, key);
  if (list.shape !== "list") throw malformed(`${key}: expected a list`);
  if (list.of.shape === "list") throw malformed("lists of lists are not supported");
  return { strategy, key: mergeKey, mergeItem: (live, patch) => mergeMaps(list.of, live, patch) };
}
