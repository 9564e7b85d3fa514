// Functions on lists: isSorted, sum, min, max, indexOf, lastIndexOf.

import { type Library, declare, method } from "../declarations.ts";
import { add, compare, elements, equalParts, sizeOf } from "../operations.ts";
import { type CelType, listOf, typeParam, types } from "../types.ts";
import {
  Double,
  Duration,
  Uint,
  type Value,
  adapt,
  evaluationError,
  isList,
  noSuchOverload,
} from "../values.ts";
import { chargeWalk } from "../walk-limit.ts";

const { bool, bytes, double, duration, int, string, timestamp, uint } = types;
const comparable = { int, uint, double, bool, duration, timestamp, string, bytes };
const zeros: Readonly<Record<string, Value>> = {
  int: 0,
  uint: new Uint(0),
  double: new Double(0),
  duration: new Duration(0n),
};
const anyType = typeParam("A");

function itemsOf(list: Value): readonly Value[] {
  if (!isList(list)) throw noSuchOverload();
  chargeWalk(sizeOf(list)!);
  return elements(list);
}

/** Values of different types compare as equal, as in cel-go; only types without an order are rejected. */
function order(one: Value, other: Value): number {
  try {
    return compare(one, other);
  } catch {
    compare(one, one);
    compare(other, other);
    return 0;
  }
}

const isSorted = (list: Value): boolean => {
  const items = itemsOf(list);
  return items.every((item, at) => at === 0 || order(adapt(items[at - 1]!), adapt(item)) <= 0);
};

/** Returns a function for the smallest (sign 1) or largest (sign -1) element. */
const extreme =
  (name: string, sign: number) =>
  (list: Value): Value => {
    const items = itemsOf(list).map(adapt);
    if (items.length === 0) throw evaluationError(`${name} called on empty list`);
    return items.reduce((best, item) => (Math.sign(order(best, item)) === sign ? item : best));
  };
const min = extreme("min", 1);
const max = extreme("max", -1);

const sums = Object.fromEntries(
  Object.entries(zeros).map(([name, zero]) => [
    name,
    (list: Value): Value => itemsOf(list).reduce((sum: Value, item) => add(sum, adapt(item)), zero),
  ]),
);

const forEach = (kinds: Readonly<Record<string, CelType>>) => Object.entries(kinds);

export const listsLibrary: Library = [
  declare(
    "isSorted",
    ...forEach(comparable).map(([name, type]) =>
      method(`list_${name}_is_sorted_bool`, [listOf(type)], bool, isSorted),
    ),
  ),
  declare(
    "sum",
    ...forEach({ int, uint, double, duration }).map(([name, type]) =>
      method(`list_${name}_sum_${name}`, [listOf(type)], type, sums[name]!),
    ),
  ),
  declare(
    "max",
    ...forEach(comparable).map(([name, type]) =>
      method(`list_${name}_max_${name}`, [listOf(type)], type, max),
    ),
  ),
  declare(
    "min",
    ...forEach(comparable).map(([name, type]) =>
      method(`list_${name}_min_${name}`, [listOf(type)], type, min),
    ),
  ),
  declare(
    "indexOf",
    method("list_a_index_of_int", [listOf(anyType), anyType], int, (list, item) =>
      itemsOf(list).findIndex((other) => equalParts(adapt(other), item)),
    ),
  ),
  declare(
    "lastIndexOf",
    method("list_a_last_index_of_int", [listOf(anyType), anyType], int, (list, item) =>
      itemsOf(list).findLastIndex((other) => equalParts(adapt(other), item)),
    ),
  ),
];
