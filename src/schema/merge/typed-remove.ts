// Removes or extracts fields of a value, and fits field sets to a merge type.

import { setOwn } from "#base";
import { type FieldSet, type MutableFieldSet, isEmptySet, isMember, leaf } from "./field-set.ts";
import { type Json, type JsonObject, isList, isObject } from "./json-value.ts";
import { itemElement } from "./list-items.ts";
import { type ListType, type MergeType, typeUnder } from "./merge-type.ts";
import { fieldElement } from "./path-element.ts";

/** Returns the value without the fields and items in the set. A container left empty becomes null. */
export function removeItems(type: MergeType, value: Json, set: FieldSet): Json {
  if (isEmptySet(set)) return value;
  if (isObject(value) && (type.is === "struct" || type.is === "map" || type.is === "any")) {
    return "atomic" in type && type.atomic ? null : removeEntries(type, value, set);
  }
  if (isList(value) && type.is === "list")
    return type.relation === "atomic" ? null : removeFromList(type, value, set);
  return type.is === "scalar" || type.is === "any" ? value : null;
}

function removeEntries(type: MergeType, value: JsonObject, set: FieldSet): Json {
  const result: Record<string, Json> = {};
  let size = 0;
  for (const key in value) {
    const below = set[fieldElement(key)];
    if (below !== undefined && isMember(below)) continue;
    setOwn(
      result,
      key,
      below === undefined ? value[key] : removeItems(typeUnder(type, key), value[key]!, below),
    );
    size++;
  }
  return size === 0 ? null : result;
}

function removeFromList(type: ListType, items: readonly Json[], set: FieldSet): Json {
  const result: Json[] = [];
  items.forEach((item, i) => {
    const below = set[itemElement(type, item, i)];
    if (below !== undefined && isMember(below)) return;
    result.push(below === undefined ? item : removeItems(type.of, item, below));
  });
  return result.length === 0 ? null : result;
}

/** Returns only the fields and items in the set, or undefined if the value has none of them. */
export function extractItems(type: MergeType, value: Json, set: FieldSet): Json | undefined {
  return extract(type, value, isEmptySet(set) ? undefined : set);
}

function extract(type: MergeType, value: Json, node: FieldSet | undefined): Json | undefined {
  if (node === undefined) return undefined;
  if (
    isObject(value) &&
    (type.is === "any" || ((type.is === "struct" || type.is === "map") && !type.atomic))
  ) {
    const result: Record<string, Json> = {};
    for (const key in value) {
      const child = extract(typeUnder(type, key), value[key]!, node[fieldElement(key)]);
      if (child !== undefined) setOwn(result, key, child);
    }
    return result;
  }
  if (isList(value) && type.is === "list" && type.relation !== "atomic") {
    return value
      .map((item, i) => extract(type.of, item, node[itemElement(type, item, i)]))
      .filter((item) => item !== undefined);
  }
  return value;
}

/**
 * Adds to the set every declared struct field in it that has children in the set: such a container is removed
 * once all of its content is.
 */
export function withNamedFields(type: MergeType | undefined, set: FieldSet): FieldSet {
  const result: MutableFieldSet = {};
  for (const element in set) {
    if (element === ".") {
      result["."] = leaf;
      continue;
    }
    const child = set[element]!;
    const inner = isEmptySet(child) ? child : withNamedFields(typeBelow(type, element), child);
    const named = type?.is === "struct" && type.byElement.has(element);
    result[element] =
      named && inner["."] === undefined && !isEmptySet(inner) ? { ".": leaf, ...inner } : inner;
  }
  return result;
}

function typeBelow(type: MergeType | undefined, element: string): MergeType | undefined {
  switch (type?.is) {
    case "struct":
      return type.byElement.get(element)?.type ?? type.others;
    case "map":
    case "list":
      return type.of;
    case "any":
      return type;
    default:
      return undefined;
  }
}

/** Fits a set written for an older schema: a value that is now atomic is owned as a whole. */
export function fitToType(type: MergeType | undefined, set: FieldSet): FieldSet {
  if (type === undefined || set === leaf || type.is === "scalar" || type.is === "any" || isEmptySet(set))
    return set;
  if (type.is === "list" ? type.relation === "atomic" : type.atomic) return leaf;
  let result: MutableFieldSet | undefined;
  for (const element in set) {
    const before = set[element]!;
    if (before === leaf || element === ".") continue;
    const after = fitToType(typeBelow(type, element), before);
    if (after !== before) (result ??= { ...set })[element] = after;
  }
  return result ?? set;
}
