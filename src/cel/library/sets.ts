// Lists as sets: sets.contains, sets.equivalent and sets.intersects.

import { type Library, declare, overload } from "../declarations.ts";
import { elements, isIn } from "../operations.ts";
import { listOf, typeParam, types } from "../types.ts";
import { type Value, adapt, isList, noSuchOverload } from "../values.ts";

const list = listOf(typeParam("T"));

function itemsOf(value: Value): readonly Value[] {
  if (!isList(value)) throw noSuchOverload();
  return elements(value);
}

const contains = (whole: Value, part: Value): boolean =>
  itemsOf(part).every((item) => isIn(adapt(item), whole));

export const setsLibrary: Library = [
  declare("sets.contains", overload("list_sets_contains_list", [list, list], types.bool, contains)),
  declare(
    "sets.equivalent",
    overload(
      "list_sets_equivalent_list",
      [list, list],
      types.bool,
      (left, right) => contains(left, right) && contains(right, left),
    ),
  ),
  declare(
    "sets.intersects",
    overload("list_sets_intersects_list", [list, list], types.bool, (left, right) =>
      itemsOf(left).some((item) => isIn(adapt(item), right)),
    ),
  ),
];
