// Compares two values of a merge type. Values shared by both are skipped by identity.

import { type FieldSet, type MutableFieldSet, finish, leaf, start } from "./field-set.ts";
import { type Json, type JsonObject, isEmptyObject, isList, isObject, own, sameJson } from "./json-value.ts";
import { inOrder, itemElement, itemsByElement, noItems } from "./list-items.ts";
import { type ListType, type MergeType, type StructType, anyType, typeUnder } from "./merge-type.ts";
import { compareText, fieldElement } from "./path-element.ts";

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export interface Changes {
  /** Added or modified. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** Returns the fields that b adds, modifies, or lacks. Throws a TypedError for ambiguous list items. */
export function compareTyped(type: MergeType, a: Json | undefined, b: Json | undefined): Comparison {
  const found = compare(type, a ?? none, b ?? none, true);
  return { added: found?.added ?? leaf, modified: found?.modified ?? leaf, removed: found?.removed ?? leaf };
}

/** Like compareTyped, but with additions and modifications in one set, which is cheaper. */
export function changesBetween(type: MergeType, a: Json | undefined, b: Json | undefined): Changes {
  const found = compare(type, a ?? none, b ?? none, false);
  return { changed: found?.added ?? leaf, removed: found?.removed ?? leaf };
}

interface Difference {
  added?: MutableFieldSet;
  modified?: MutableFieldSet;
  removed?: MutableFieldSet;
}

const addedLeaf: Difference = { added: leaf };
const modifiedLeaf: Difference = { modified: leaf };

function compare(
  type: MergeType,
  a: Json | undefined,
  b: Json | undefined,
  split: boolean,
): Difference | undefined {
  if (a === b) return undefined;
  if (a === undefined) return { added: ownedTree(type, b!) };
  if (b === undefined) return { removed: ownedTree(type, a) };
  switch (type.is) {
    case "scalar":
      return whole(a, b, split);
    case "struct":
    case "map": {
      const left = filled(a);
      const right = filled(b);
      if (type.atomic || (left === undefined && right === undefined)) return whole(a, b, split);
      return type.is === "struct" && type.others === undefined
        ? compareStructs(type, left ?? none, right ?? none, split)
        : compareMaps(type, left ?? none, right ?? none, split);
    }
    case "list": {
      const left = isList(a) && a.length > 0 ? a : undefined;
      const right = isList(b) && b.length > 0 ? b : undefined;
      return type.relation === "atomic" || (left === undefined && right === undefined)
        ? whole(a, b, split)
        : compareItems(type, left, right, split);
    }
    case "any":
      return compareAny(a, b, split);
  }
}

const none: JsonObject = {};
const filled = (value: Json): JsonObject | undefined =>
  isObject(value) && !isEmptyObject(value) ? value : undefined;
const whole = (a: Json, b: Json, split: boolean): Difference | undefined =>
  sameJson(a, b) ? undefined : split ? modifiedLeaf : addedLeaf;

function compareStructs(
  type: StructType,
  a: JsonObject,
  b: JsonObject,
  split: boolean,
): Difference | undefined {
  const found = new DifferenceCollector();
  for (const { name, element, type: of } of type.fields) {
    const left = a[name];
    const right = b[name];
    if (left !== right) found.put(element, compare(of, left, right, split));
  }
  return found.result;
}

function compareMaps(type: MergeType, a: JsonObject, b: JsonObject, split: boolean): Difference | undefined {
  const keys: string[] = [];
  // Most entries are the same, and need not be sorted.
  for (const key in a) if (a[key] !== own(b, key)) keys.push(key);
  for (const key in b) if (own(a, key) === undefined) keys.push(key);
  const found = new DifferenceCollector();
  for (const key of inTextOrder(keys))
    found.put(fieldElement(key), compare(typeUnder(type, key), own(a, key), own(b, key), split));
  return found.result;
}

/** Sorts keys, which usually are in order: sorting costs more than checking that. */
function inTextOrder(keys: string[]): string[] {
  for (let at = 1; at < keys.length; at++)
    if (compareText(keys[at - 1]!, keys[at]!) > 0) return keys.sort(compareText);
  return keys;
}

function compareItems(
  type: ListType,
  a: readonly Json[] | undefined,
  b: readonly Json[] | undefined,
  split: boolean,
): Difference | undefined {
  if (sameJson(a, b)) return undefined;
  const left = a === undefined ? noItems : itemsByElement(type, a);
  const right = b === undefined ? noItems : itemsByElement(type, b);
  const items = left.size === 0 ? right : right.size === 0 ? left : new Map([...left, ...right]);
  const found = new DifferenceCollector();
  for (const element of inOrder(type, items))
    found.put(element, compare(type.of, left.get(element), right.get(element), split));
  return found.result;
}

// Values of different types: what only a has is removed or modified, what only b has is added.
function compareAny(a: Json, b: Json, split: boolean): Difference | undefined {
  const left = filled(a);
  const right = filled(b);
  if (left === undefined && right === undefined) return whole(a, b, split);
  const inner = compareMaps(anyType, left ?? none, right ?? none, split);
  if ((isObject(a) || a === null) && (isObject(b) || b === null)) return inner;
  return split
    ? { ...inner, modified: leaf }
    : { ...inner, added: inner?.added === undefined ? leaf : { ".": leaf, ...inner.added } };
}

/** Collects the differences of children, which must be added in order. */
class DifferenceCollector {
  result: Difference | undefined;

  put(element: string, child: Difference | undefined): void {
    if (child === undefined) return;
    const result = (this.result ??= {});
    if (child.added !== undefined) (result.added ??= {})[element] = child.added;
    if (child.modified !== undefined) (result.modified ??= {})[element] = child.modified;
    if (child.removed !== undefined) (result.removed ??= {})[element] = child.removed;
  }
}

/** Returns the value and everything below it, as a sole owner has it. */
export function ownedTree(type: MergeType, value: Json): FieldSet {
  if (value === null || typeof value !== "object") return leaf;
  const node = start(true);
  if (type.is === "struct" && type.others === undefined && !type.atomic && isObject(value)) {
    for (const { name, element, type: of } of type.fields) {
      const child = value[name];
      if (child !== undefined) node[element] = ownedTree(of, child);
    }
  } else if (
    isObject(value) &&
    (type.is === "any" || ((type.is === "map" || type.is === "struct") && !type.atomic))
  ) {
    for (const key of inTextOrder(Object.keys(value)))
      node[fieldElement(key)] = ownedTree(typeUnder(type, key), value[key]!);
  } else if (type.is === "list" && type.relation !== "atomic" && isList(value)) {
    const items = itemsByElement(type, value);
    for (const element of inOrder(type, items)) node[element] = ownedTree(type.of, items.get(element)!);
  }
  return finish(node)!;
}

/** Returns the fields that an applied configuration names: its leaves, list items, and map entries. */
export function fieldSetOf(type: MergeType, value: Json): FieldSet {
  return namedFields(type, value, false) ?? leaf;
}

function namedFields(type: MergeType, value: Json, member: boolean): FieldSet | undefined {
  if (
    type.is === "scalar" ||
    ((type.is === "struct" || type.is === "map") && type.atomic) ||
    (type.is === "list" && type.relation === "atomic")
  )
    return leaf;
  if (type.is === "any" && (isList(value) || (!isObject(value) && value !== null))) return leaf;
  const node = start(member || value === null || (isObject(value) && isEmptyObject(value)));
  if (type.is === "list") {
    if (isList(value)) {
      // Of duplicate items, the last one counts.
      const items = new Map(value.map((item, i) => [itemElement(type, item, i), item]));
      for (const element of inOrder(type, items))
        node[element] = namedFields(type.of, items.get(element)!, true)!;
    }
  } else if (isObject(value) && type.is === "struct" && type.others === undefined) {
    for (const { name, element, type: of } of type.fields) {
      const child = value[name] === undefined ? undefined : namedFields(of, value[name], false);
      if (child !== undefined) node[element] = child;
    }
  } else if (isObject(value)) {
    for (const key of inTextOrder(Object.keys(value))) {
      const child = namedFields(
        typeUnder(type, key),
        value[key]!,
        type.is !== "struct" || !type.byName.has(key),
      );
      if (child !== undefined) node[fieldElement(key)] = child;
    }
  }
  return finish(node);
}
