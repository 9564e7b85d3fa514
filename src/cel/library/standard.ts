// The standard functions and operators of the language.

import {
  toBool,
  toBytes,
  toDouble,
  toDuration,
  toInt,
  toText,
  toTimestamp,
  toType,
  toUint,
} from "../conversions.ts";
import {
  type FunctionDeclaration,
  type Implementation,
  type Library,
  declare,
  method,
  overload,
} from "../declarations.ts";
import { compilePattern } from "../regex/pattern.ts";
import {
  add,
  compare,
  divide,
  equal,
  index,
  isIn,
  modulo,
  multiply,
  negate,
  not,
  size,
  subtract,
} from "../operations.ts";
import { type CelType, listOf, mapOf, objectType, typeOf, typeParam, types } from "../types.ts";
import { type Value, evaluationError, noSuchOverload } from "../values.ts";
import { dateFunctions } from "./dates.ts";

const { bool, bytes, double, duration, dyn, int, string, timestamp, uint } = types;
const a = typeParam("A");
const b = typeParam("B");
const listOfA = listOf(a);
const mapOfAB = mapOf(a, b);

/** Evaluated by the planner, since not all arguments are always evaluated. */
const special: Implementation = () => {
  throw noSuchOverload();
};

const relation = (
  name: string,
  word: string,
  apply: (left: Value, right: Value) => boolean,
): FunctionDeclaration => {
  // Numbers of different types are comparable if the checker accepted them as dynamic.
  const over = (suffix: string, type: CelType) => ({
    ...overload(`${word}_${suffix}`, [type, type], bool, apply),
    checksTypes: true,
  });
  return declare(
    name,
    over("bool", bool),
    over("int64", int),
    over("uint64", uint),
    over("double", double),
    over("string", string),
    over("bytes", bytes),
    over("timestamp", timestamp),
    over("duration", duration),
  );
};

const conversion = (
  name: string,
  result: CelType,
  apply: Implementation,
  from: readonly (readonly [id: string, param: CelType])[],
): FunctionDeclaration => declare(name, ...from.map(([id, param]) => overload(id, [param], result, apply)));

/** Strings are usually short: comparing units is faster than calling the built-in. */
function beginsWith(text: string, part: string): boolean {
  if (part.length > text.length) return false;
  for (let at = 0; at < part.length; at += 1) if (text.charCodeAt(at) !== part.charCodeAt(at)) return false;
  return true;
}

function matches(text: string, pattern: string): boolean {
  const compiled = compilePattern(pattern);
  if ("error" in compiled) throw evaluationError(compiled.error);
  return compiled.pattern.test(text);
}

type TextTest = (text: string, part: string) => boolean;
const ofTexts =
  (apply: TextTest): Implementation =>
  (text, part) => {
    if (typeof text !== "string" || typeof part !== "string") throw noSuchOverload();
    return apply(text, part);
  };
const textMethod = (name: string, id: string, apply: TextTest) =>
  declare(name, method(id, [string, string], bool, ofTexts(apply)));

/** Since 1.28, `matches(text, pattern)` is allowed, too. */
export const matchesFunction: Library = [
  declare("matches", overload("matches", [string, string], bool, ofTexts(matches))),
];

export const standardLibrary: Library = [
  declare("_?_:_", overload("conditional", [bool, a, a], a, special)),
  declare("_&&_", overload("logical_and", [bool, bool], bool, special)),
  declare("_||_", overload("logical_or", [bool, bool], bool, special)),
  declare("@not_strictly_false", overload("not_strictly_false", [bool], bool, special)),
  declare("!_", overload("logical_not", [bool], bool, not)),
  declare("_==_", overload("equals", [a, a], bool, equal)),
  declare(
    "_!=_",
    overload("not_equals", [a, a], bool, (left, right) => !equal(left, right)),
  ),
  declare(
    "_-_",
    overload("subtract_int64", [int, int], int, subtract),
    overload("subtract_uint64", [uint, uint], uint, subtract),
    overload("subtract_double", [double, double], double, subtract),
    overload("subtract_timestamp_timestamp", [timestamp, timestamp], duration, subtract),
    overload("subtract_timestamp_duration", [timestamp, duration], timestamp, subtract),
    overload("subtract_duration_duration", [duration, duration], duration, subtract),
  ),
  declare(
    "_*_",
    overload("multiply_int64", [int, int], int, multiply),
    overload("multiply_uint64", [uint, uint], uint, multiply),
    overload("multiply_double", [double, double], double, multiply),
  ),
  declare(
    "_/_",
    overload("divide_int64", [int, int], int, divide),
    overload("divide_uint64", [uint, uint], uint, divide),
    overload("divide_double", [double, double], double, divide),
  ),
  declare(
    "_%_",
    overload("modulo_int64", [int, int], int, modulo),
    overload("modulo_uint64", [uint, uint], uint, modulo),
  ),
  declare(
    "_+_",
    overload("add_int64", [int, int], int, add),
    overload("add_uint64", [uint, uint], uint, add),
    overload("add_double", [double, double], double, add),
    overload("add_string", [string, string], string, add),
    overload("add_bytes", [bytes, bytes], bytes, add),
    overload("add_list", [listOfA, listOfA], listOfA, add),
    overload("add_timestamp_duration", [timestamp, duration], timestamp, add),
    overload("add_duration_timestamp", [duration, timestamp], timestamp, add),
    overload("add_duration_duration", [duration, duration], duration, add),
  ),
  declare(
    "-_",
    overload("negate_int64", [int], int, negate),
    overload("negate_double", [double], double, negate),
  ),
  declare(
    "_[_]",
    overload("index_list", [listOfA, int], a, index),
    overload("index_map", [mapOfAB, a], b, index),
  ),
  declare(
    "size",
    method("string_size", [string], int, size),
    method("bytes_size", [bytes], int, size),
    method("list_size", [listOfA], int, size),
    method("map_size", [mapOfAB], int, size),
    overload("size_string", [string], int, size),
    overload("size_bytes", [bytes], int, size),
    overload("size_list", [listOfA], int, size),
    overload("size_map", [mapOfAB], int, size),
  ),
  ...["@in", "in"].map((name) =>
    declare(
      name,
      overload("in_list", [a, listOfA], bool, isIn),
      overload("in_map", [a, mapOfAB], bool, isIn),
    ),
  ),
  declare("type", overload("type", [a], typeOf(a), toType)),
  declare(
    "dyn",
    overload("to_dyn", [a], dyn, (value) => value),
  ),
  conversion("int", int, toInt, [
    ["int64_to_int64", int],
    ["uint64_to_int64", uint],
    ["double_to_int64", double],
    ["string_to_int64", string],
    ["timestamp_to_int64", timestamp],
    ["duration_to_int64", duration],
  ]),
  conversion("uint", uint, toUint, [
    ["uint64_to_uint64", uint],
    ["int64_to_uint64", int],
    ["double_to_uint64", double],
    ["string_to_uint64", string],
  ]),
  conversion("double", double, toDouble, [
    ["double_to_double", double],
    ["int64_to_double", int],
    ["uint64_to_double", uint],
    ["string_to_double", string],
  ]),
  conversion("bool", bool, toBool, [
    ["bool_to_bool", bool],
    ["string_to_bool", string],
  ]),
  conversion("string", string, toText, [
    ["string_to_string", string],
    ["bool_to_string", bool],
    ["int64_to_string", int],
    ["uint64_to_string", uint],
    ["double_to_string", double],
    ["bytes_to_string", bytes],
    ["timestamp_to_string", timestamp],
    ["duration_to_string", duration],
  ]),
  conversion("bytes", bytes, toBytes, [
    ["bytes_to_bytes", bytes],
    ["string_to_bytes", string],
  ]),
  conversion("timestamp", timestamp, toTimestamp, [
    ["timestamp_to_timestamp", timestamp],
    ["string_to_timestamp", string],
    ["int64_to_timestamp", int],
  ]),
  conversion("duration", duration, toDuration, [
    ["duration_to_duration", duration],
    ["string_to_duration", string],
    ["int64_to_duration", int],
  ]),
  textMethod("contains", "contains_string", (text, part) => text.includes(part)),
  textMethod("endsWith", "ends_with_string", (text, part) => text.endsWith(part)),
  textMethod("startsWith", "starts_with_string", beginsWith),
  textMethod("matches", "matches_string", matches),
  ...dateFunctions,
  relation("_<_", "less", (left, right) =>
    typeof left === "number" && typeof right === "number" ? left < right : compare(left, right) < 0,
  ),
  relation("_<=_", "less_equals", (left, right) =>
    typeof left === "number" && typeof right === "number" ? left <= right : compare(left, right) <= 0,
  ),
  relation("_>_", "greater", (left, right) =>
    typeof left === "number" && typeof right === "number" ? left > right : compare(left, right) > 0,
  ),
  relation("_>=_", "greater_equals", (left, right) =>
    typeof left === "number" && typeof right === "number" ? left >= right : compare(left, right) >= 0,
  ),
];

/** Names that denote types. */
export const typeNames: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ["int", typeOf(int)],
  ["uint", typeOf(uint)],
  ["bool", typeOf(bool)],
  ["double", typeOf(double)],
  ["bytes", typeOf(bytes)],
  ["string", typeOf(string)],
  ["list", typeOf(listOfA)],
  ["map", typeOf(mapOfAB)],
  ["null_type", typeOf(types.null)],
  ["type", typeOf(typeOf())],
  ...["google.protobuf.Timestamp", "google.protobuf.Duration"].map(
    (name) => [name, typeOf(objectType(name))] as const,
  ),
]);
