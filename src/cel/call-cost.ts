// Run-time cost of calls. The cost model determines which programs are accepted and when they are aborted, so
// it is numerically identical to the reference's.

import { elements, isMapLike, lookUp, mapKeys, sizeOf } from "./operations.ts";
import { FormatValue } from "./library/named-formats.ts";
import { Opaque, type Value, adapt, isList } from "./values.ts";
import { chargeWalk, codePoints, walkFactor } from "./walk-limit.ts";

export const stringFactor = 0.1;
export const regexFactor = 0.25;
export const listCost = 10;
export const mapCost = 30;

/** Cost of a call. It depends on at most two arguments; 0 stands for an absent one. */
export type CallCost = (first: Value, second: Value, result: () => Value) => number;

/**
 * Returns the size of a value for cost purposes: 1 if it has none. Code points of short strings need not be
 * counted.
 */
export function costSize(value: Value): number {
  if (typeof value === "string") return value.length <= 10 ? value.length : codePoints(value);
  return value instanceof Opaque ? value.costSize : (sizeOf(value) ?? 1);
}

export const traversal = (size: number): number => Math.ceil(size * stringFactor);

/** Cost of parsing a selector: its text, and requirements of at least two characters. */
export const selectorCost = (size: number): number =>
  listCost + traversal(size) + Math.ceil(Math.ceil(size / 2) * requirementCost);
const requirementCost = 50;

const smaller: CallCost = (left, right) => traversal(Math.min(costSize(left), costSize(right)));
const first: CallCost = (value) => traversal(costSize(value));
const regexCost: CallCost = (text, pattern) =>
  Math.ceil((1 + costSize(text)) * stringFactor) * Math.ceil(costSize(pattern) * regexFactor);

const byOverload: Readonly<Record<string, CallCost>> = {
  starts_with_string: first,
  ends_with_string: first,
  string_to_bytes: first,
  bytes_to_string: first,
  in_list: (_item, list) => costSize(list),
  list_sets_contains_list: (left, right) => 1 + costSize(left) * costSize(right),
  list_sets_intersects_list: (left, right) => 1 + costSize(left) * costSize(right),
  list_sets_equivalent_list: (left, right) => 1 + 2 * costSize(left) * costSize(right),
  equals: smaller,
  not_equals: smaller,
  add_string: (left, right) => traversal(costSize(left) + costSize(right)),
  add_bytes: (left, right) => traversal(costSize(left) + costSize(right)),
  matches_string: regexCost,
  contains_string: (text, part) => traversal(costSize(text)) * traversal(costSize(part)),
  ...Object.fromEntries(
    ["less", "less_equals", "greater", "greater_equals"].flatMap((relation) => [
      [`${relation}_string`, smaller],
      [`${relation}_bytes`, smaller],
    ]),
  ),
};

/** Cost of an authorization check, so high that an expression can afford only two. */
export const checkCost = 350_000;

const nominal: CallCost = () => 1;
const listTraversal: CallCost = (list) => wholeTraversal(list);
const twice: CallCost = (text) => Math.ceil(costSize(text) * 2 * stringFactor);

/** Costs of library functions by name; they take precedence over those of overloads. */
const byFunction: Readonly<Record<string, CallCost>> = {
  check: () => checkCost,
  ...names("serviceAccount path group resource subresource namespace name allowed denied reason", nominal),
  ...names("isSorted sum max min indexOf lastIndexOf", listTraversal),
  ...names("url lowerAscii upperAscii substring trim", first),
  ...names("replace split", twice),
  ...names("fieldSelector labelSelector", (_check, text) => selectorCost(costSize(text))),
  join: (_list, _between, result) => Math.ceil(costSize(result()) * 2 * stringFactor),
  ...names("find findAll", regexCost),
  ...names("cidr isIP isCIDR quantity isQuantity", first),
  ip: (value) => (typeof value === "string" ? traversal(costSize(value)) : 1),
  "ip.isCanonical": twice,
  containsIP: (cidr, other) => Math.ceil(costSize(cidr) * 2 * stringFactor) + parsing(other),
  containsCIDR: (cidr, other) =>
    Math.ceil(costSize(cidr) * 2 * stringFactor) + traversal(costSize(cidr)) + 1 + parsing(other),
  validate: (format, text) =>
    Math.ceil((1 + costSize(text)) * stringFactor) *
    Math.ceil((format instanceof FormatValue ? format.patternSize : 1) * regexFactor),
};

/** A string given in place of an address is parsed first. */
const parsing = (value: Value): number => (typeof value === "string" ? traversal(costSize(value)) : 0);

function names(list: string, cost: CallCost): Record<string, CallCost> {
  return Object.fromEntries(list.split(" ").map((name) => [name, cost]));
}

/** Returns the cost function of a call; undefined if the cost is always 1. */
export function callCost(name: string, overload: string, libraryCosts: boolean): CallCost | undefined {
  if (libraryCosts && Object.hasOwn(byFunction, name)) return byFunction[name];
  return Object.hasOwn(byOverload, overload) ? byOverload[overload] : undefined;
}

function wholeTraversal(value: Value): number {
  if (typeof value === "string") return Math.trunc(Buffer.byteLength(value) * stringFactor);
  if (value instanceof Uint8Array) return Math.trunc(value.length * stringFactor);
  let cost = 0;
  if (typeof value === "object" && value !== null) chargeWalk(1 + (sizeOf(value) ?? 0) * walkFactor);
  if (isList(value)) for (const item of elements(value)) cost += wholeTraversal(adapt(item));
  else if (isMapLike(value))
    for (const key of mapKeys(value)) cost += wholeTraversal(key) + wholeTraversal(lookUp(value, key)!);
  else cost = 1;
  return cost;
}
