// Optional values: their functions, and indexing of and by them. The checker itself handles selection by
// `.?`.

import { type Library, declare, method, overload } from "../declarations.ts";
import { index, optionalMember, sizeOf } from "../operations.ts";
import { type CelType, listOf, mapOf, optionalType, typeOf, typeParam, types } from "../types.ts";
import {
  Double,
  Duration,
  OptionalValue,
  Timestamp,
  Uint,
  type Value,
  evaluationError,
  noSuchOverload,
  optionalNone,
  optionalOf,
} from "../values.ts";

const k = typeParam("K");
const v = typeParam("V");
const optional = optionalType(v);

/** The name that denotes the type. */
export const optionalTypeName: readonly [string, CelType] = ["optional_type", typeOf(optional)];
const list = listOf(v);
const map = mapOf(k, v);

function within(value: Value): Value | undefined {
  if (!(value instanceof OptionalValue)) throw noSuchOverload();
  return value.value;
}

/** Reports whether a value is the zero value of its type: null, zero, the first instant, or empty. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0) return true;
  if (value instanceof Double || value instanceof Uint) return value.value === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.seconds === firstSecond && value.nanos === 0;
  if (value instanceof OptionalValue) return value.value === undefined;
  return sizeOf(value) === 0;
}
/** The first second of the year 1, the zero time. */
const firstSecond = -62_135_596_800;

export const optionalsLibrary: Library = [
  declare("optional.of", overload("optional_of", [v], optional, optionalOf)),
  declare(
    "optional.ofNonZeroValue",
    overload("optional_ofNonZeroValue", [v], optional, (value) =>
      isZero(value) ? optionalNone : optionalOf(value),
    ),
  ),
  declare(
    "optional.none",
    overload("optional_none", [], optional, () => optionalNone),
  ),
  declare(
    "value",
    method("optional_value", [optional], v, (value) => {
      const found = within(value);
      if (found === undefined) throw evaluationError("optional.none() dereference");
      return found;
    }),
  ),
  declare(
    "hasValue",
    method("optional_hasValue", [optional], types.bool, (value) => within(value) !== undefined),
  ),
  declare(
    "or",
    method("optional_or_optional", [optional, optional], optional, (value, other) =>
      within(value) === undefined ? other : value,
    ),
  ),
  declare(
    "orValue",
    method("optional_orValue_value", [optional, v], v, (value, other) => within(value) ?? other),
  ),
  declare(
    "_[?_]",
    overload("list_optindex_optional_int", [list, types.int], optional, optionalMember),
    overload(
      "optional_list_optindex_optional_int",
      [optionalType(list), types.int],
      optional,
      optionalMember,
    ),
    overload("map_optindex_optional_value", [map, k], optional, optionalMember),
    overload("optional_map_optindex_optional_value", [optionalType(map), k], optional, optionalMember),
  ),
  declare(
    "_[_]",
    overload("optional_list_index_int", [optionalType(list), types.int], optional, index),
    overload("optional_map_index_value", [optionalType(map), k], optional, index),
  ),
];
