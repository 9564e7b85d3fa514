// Items of sets and keyed lists, identified by their path element.

import { type Json, has, isList, isObject, own } from "./json-value.ts";
import type { ListType } from "./merge-type.ts";
import {
  type PathElement,
  elementText,
  inKeyOrder,
  indexElement,
  keyElement,
  sortedElements,
  valueElement,
} from "./path-element.ts";
import { TypedError } from "./typed-error.ts";

/** Returns the path element of an item. Throws a TypedError if the item cannot be identified. */
export function itemElement(type: ListType, item: Json, index: number): PathElement {
  if (type.relation === "keyed") return keyedElement(type, item, index);
  if (type.relation === "atomic") return indexElement(index);
  if (item === null)
    throw fault(index, "associative list without keys has an element that's an explicit null");
  if (isList(item)) throw fault(index, "not supported: associative list with lists as elements");
  if (isObject(item)) throw fault(index, "associative list without keys has an element that's a map type");
  return valueElement(item);
}

const keyedElement = (type: ListType, item: Json, index: number): PathElement =>
  keyElement(type.keys, keyValues(type, item, index));

function keyValues({ keys, of }: ListType, item: Json, index: number): Json[] {
  if (item === null) throw fault(index, "associative list with keys may not have a null element");
  if (!isObject(item)) throw fault(index, "associative list with keys may not have non-map elements");
  const values: Json[] = [];
  for (const key of keys) {
    // An explicit null counts as given: the default does not replace it.
    const value = has(item, key)
      ? own(item, key)
      : of.is === "struct"
        ? of.byName.get(key)?.keyDefault
        : undefined;
    if (value === undefined)
      throw fault(
        index,
        `associative list with keys has an element that omits key field "${key}" (and doesn't have default value)`,
      );
    values.push(value);
  }
  return values;
}

/** Returns the elements of the items in field set order. */
export function inOrder(type: ListType, items: ReadonlyMap<PathElement, Json>): PathElement[] {
  if (type.relation !== "keyed" || items.size < 2) return sortedElements(items.keys());
  return inKeyOrder(
    Array.from(items, ([element, item]) => ({
      element,
      keys: { names: type.keys, values: keyValues(type, item, 0) },
    })),
  );
}

const fault = (index: number, message: string): TypedError =>
  new TypedError([{ path: "", message: `element ${index}: ${message}` }]);

/** Returns the items by element, in list order. Throws a TypedError on duplicates. */
export function itemsByElement(type: ListType, items: readonly Json[]): ReadonlyMap<PathElement, Json> {
  const found = new Map<PathElement, Json>();
  for (let i = 0; i < items.length; i++) {
    const element = itemElement(type, items[i]!, i);
    if (found.has(element))
      throw new TypedError([{ path: "", message: `duplicate entries for key ${elementText(element)}` }]);
    found.set(element, items[i]!);
  }
  return found;
}

export const noItems: ReadonlyMap<PathElement, Json> = new Map();
