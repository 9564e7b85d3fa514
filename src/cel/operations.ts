// The operators on values of any type: equality, order, arithmetic, membership and size.

import {
  Double,
  Duration,
  MapValue,
  Opaque,
  Timestamp,
  TypeValue,
  Uint,
  type MapKey,
  type Value,
  View,
  adapt,
  evaluationError,
  intOf,
  isInt,
  isList,
  isRecord,
  noSuchOverload,
  numberOf,
  uintOf,
  OptionalValue,
  optionalNone,
  optionalOf,
} from "./values.ts";
import { chargeWalk, codePoints, ownKeys, readWhole, walkFactor } from "./walk-limit.ts";
import { addTime, durationOf, sinceTime } from "./time-values.ts";

// ---- equality

export function equal(left: Value, right: Value): boolean {
  if (left === right) return true;
  if (left === null || right === null) return false;
  switch (typeof left) {
    case "string":
    case "boolean":
      return false;
    case "number":
    case "bigint":
      return equalNumbers(left, right);
    default:
      return equalObjects(left, right);
  }
}

/** Compares parts of values, for which the reference charges nothing. */
export function equalParts(left: Value, right: Value): boolean {
  chargeWalk(1);
  if (typeof left === "string") {
    if (typeof right !== "string" || left.length !== right.length) return false;
    readWhole(left);
  } else if (typeof left === "object" && left !== null && left !== right)
    chargeWalk((sizeOf(left) ?? 0) * walkFactor);
  return equal(left, right);
}

/** Reports whether equality is defined: schema data cannot be compared with a value of a different kind. */
export const comparable = (left: Value, right: Value): boolean =>
  !(left instanceof View) || right === null || (left.view === "list" ? isList(right) : isMapLike(right));

function equalNumbers(left: Value, right: Value): boolean {
  const a = numeric(left);
  const b = numeric(right);
  // Loose equality compares a number with a bigint by value, exactly.
  // oxlint-disable-next-line eqeqeq
  return a !== undefined && b !== undefined && a == b;
}

const numeric = (value: Value): number | bigint | undefined =>
  isInt(value) ? value : value instanceof Double || value instanceof Uint ? value.value : undefined;

function equalObjects(left: Value, right: Value): boolean {
  const own = left instanceof View ? left.equals(right, equalParts) : undefined;
  if (own !== undefined) return own;
  if (left instanceof Double || left instanceof Uint) return equalNumbers(left, right);
  if (isList(left)) return isList(right) && equalLists(left, right);
  if (left instanceof Uint8Array) return right instanceof Uint8Array && Buffer.compare(left, right) === 0;
  if (left instanceof Timestamp)
    return right instanceof Timestamp && left.seconds === right.seconds && left.nanos === right.nanos;
  if (left instanceof Duration) return right instanceof Duration && left.nanos === right.nanos;
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name;
  if (left instanceof OptionalValue) return right instanceof OptionalValue && equalOptionals(left, right);
  if (left instanceof Opaque) return right instanceof Opaque && left.equals(right);
  return isMapLike(left) && isMapLike(right) && equalMaps(left, right);
}

function equalOptionals({ value: left }: OptionalValue, { value: right }: OptionalValue): boolean {
  return left === undefined || right === undefined ? left === right : equalParts(left, right);
}

function equalLists(left: readonly Value[] | View, right: readonly Value[] | View): boolean {
  const a = elements(left);
  const b = elements(right);
  return a.length === b.length && a.every((item, index) => equalParts(adapt(item), adapt(b[index]!)));
}

function equalMaps(left: Value, right: Value): boolean {
  const keys = mapKeys(left);
  if (keys.length !== mapKeys(right).length) return false;
  return keys.every((key) => {
    const other = lookUp(right, key);
    return other !== undefined && equalParts(lookUp(left, key)!, other);
  });
}

// ---- lists and maps

/** Returns the elements of a list. */
export const elements = (list: readonly Value[] | View): readonly Value[] =>
  list instanceof View ? list.values() : list;

export const isMapLike = (value: Value): boolean =>
  value instanceof MapValue || (value instanceof View && value.view !== "list") || isRecord(value);

/** Returns the keys of a map in data order. */
export function mapKeys(map: Value): readonly Value[] {
  if (map instanceof View) return map.values();
  if (!(map instanceof MapValue)) return ownKeys(map as object);
  chargeWalk(map.entries.size * walkFactor);
  return [...map.entries.values()].map(([key]) => key);
}

/**
 * Returns the canonical form of a map key, the same for equal keys; undefined if the value cannot be a key.
 */
export function mapKey(key: Value): MapKey | undefined {
  if (typeof key === "string" || typeof key === "boolean" || isInt(key)) return key;
  if (key instanceof Uint) return key.value;
  if (key instanceof Double && Number.isInteger(key.value)) {
    return Number.isSafeInteger(key.value) ? key.value : BigInt(key.value);
  }
  return undefined;
}

/** Returns the value under a key, or undefined if the key is absent. */
export function lookUp(map: Value, key: Value): Value | undefined {
  if (map instanceof MapValue) {
    const form = mapKey(key);
    return form === undefined ? undefined : map.entries.get(form)?.[1];
  }
  if (typeof key !== "string") return undefined;
  return map instanceof View ? map.get(key) : ownMember(map as JsonObject, key);
}

type JsonObject = { readonly [key: string]: Value };

/** Returns a member of a plain object. Inherited members are not data: functions, and the prototype. */
export function ownMember(record: JsonObject, key: string): Value | undefined {
  const found: unknown = record[key];
  if (typeof found === "number") return numberOf(found);
  if (found === undefined) return undefined;
  if ((typeof found === "function" || key === "__proto__") && !Object.hasOwn(record, key)) return undefined;
  return found as Value;
}

/** Returns a field or key of any value, as selected by a dot. Members of optional values are optional. */
export function member(value: Value, key: string): Value {
  if (value instanceof OptionalValue) return optionalMember(value, key);
  if (isMapLike(value)) {
    const found = lookUp(value, key);
    if (found === undefined) throw evaluationError(`no such key: ${key}`);
    return found;
  }
  if (isList(value)) throw evaluationError(`unsupported index type 'string' in list`);
  throw evaluationError(value instanceof Opaque ? "no such overload" : `no such key: ${key}`);
}

/** Returns a field, key or element as an optional value. */
export function optionalMember(value: Value, key: Value): OptionalValue {
  if (value instanceof OptionalValue)
    return value.value === undefined ? value : optionalMember(value.value, key);
  if (isMapLike(value)) return optionalOf(lookUp(value, key));
  if (!isList(value)) throw noSuchOverload();
  const at = mapKey(key);
  const within = (typeof at === "number" || typeof at === "bigint") && at >= 0 && at < sizeOf(value)!;
  return within ? optionalOf(element(value, key)) : optionalNone;
}

/** Returns a member by the index operator, of a value computed by the expression. */
export function index(value: Value, key: Value): Value {
  return indexed(value, key, false);
}

/** Like index, but for an input value: the error for an index out of range has a different message. */
export function indexOfInput(value: Value, key: Value): Value {
  return indexed(value, key, true);
}

function indexed(value: Value, key: Value, given: boolean): Value {
  if (value instanceof OptionalValue) return optionalMember(value, key);
  if (isList(value)) return element(value, key, given);
  if (isMapLike(value)) {
    const found = lookUp(value, key);
    if (found === undefined) throw evaluationError(`no such key: ${keyText(key)}`);
    return found;
  }
  throw evaluationError(`no such key: ${keyText(key)}`);
}

export const keyText = (key: Value): string =>
  key instanceof Uint || key instanceof Double
    ? String(key.value)
    : typeof key === "object"
      ? ""
      : String(key);

function element(list: readonly Value[] | View, key: Value, given = false): Value {
  const at = mapKey(key);
  if (typeof at !== "number" && typeof at !== "bigint")
    throw evaluationError(`unsupported index type '${typeof key}' in list`);
  const size = list instanceof View ? list.size : list.length;
  if (at < 0 || at >= size)
    throw evaluationError(
      given || list instanceof View
        ? `index out of bounds: ${at}`
        : `index '${at}' out of range in list size '${size}'`,
    );
  const found = list instanceof View ? list.get(Number(at)) : list[Number(at)];
  return adapt(found!);
}

export function isIn(item: Value, container: Value): boolean {
  if (isRecord(container)) return typeof item === "string" && ownMember(container, item) !== undefined;
  if (isList(container)) return elements(container).some((other) => equalParts(item, adapt(other)));
  if (isMapLike(container)) return lookUp(container, item) !== undefined;
  throw noSuchOverload();
}

/** Returns the result of size(), or undefined for values without a size. */
export function sizeOf(value: Value): number | undefined {
  if (typeof value === "string") return codePoints(value);
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (value instanceof View) return value.size;
  if (value instanceof MapValue) return value.entries.size;
  return isRecord(value) ? ownKeys(value).length : undefined;
}

export function size(value: Value): number {
  const found = sizeOf(value);
  if (found === undefined) throw noSuchOverload();
  return found;
}

// ---- order

/** Returns the sign of left - right. */
export function compare(left: Value, right: Value): number {
  if (typeof left === "number" && typeof right === "number") return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === "string" && typeof right === "string") return compareStrings(left, right);
  const a = numeric(left);
  const b = numeric(right);
  if (a !== undefined && b !== undefined) {
    if (Number.isNaN(a) || Number.isNaN(b)) throw evaluationError("NaN values cannot be ordered");
    // Numbers of different types compare as doubles, as in the reference.
    if (typeof a !== typeof b) return Math.sign(Number(a) - Number(b)) || 0;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (left instanceof Duration && right instanceof Duration)
    return left.nanos < right.nanos ? -1 : left.nanos > right.nanos ? 1 : 0;
  if (left instanceof Timestamp && right instanceof Timestamp)
    return Math.sign(left.seconds - right.seconds || left.nanos - right.nanos);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  throw noSuchOverload();
}

/** Compares code points, the order of UTF-8 bytes: UTF-16 units differ from that above the surrogates. */
function compareStrings(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) {
      const bothHigh = a >= 0xd800 && b >= 0xd800;
      const surrogates = bothHigh && a <= 0xdfff !== b <= 0xdfff;
      return a < b !== surrogates ? -1 : 1;
    }
  }
  return left.length < right.length ? -1 : 1;
}

// ---- arithmetic

const safe = (value: number): boolean => value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER;

export function add(left: Value, right: Value): Value {
  if (typeof left === "number" && typeof right === "number" && safe(left + right)) return left + right;
  if (typeof left === "string" && typeof right === "string") return left + right;
  if (isInt(left) && isInt(right)) return intOf(BigInt(left) + BigInt(right));
  if (left instanceof Double && right instanceof Double) return new Double(left.value + right.value);
  if (left instanceof Uint && right instanceof Uint) return uintOf(BigInt(left.value) + BigInt(right.value));
  if (isList(left) && isList(right)) return concatenate(left, right);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.concat([left, right]);
  if (left instanceof Duration && right instanceof Duration) return durationOf(left.nanos + right.nanos);
  if (left instanceof Timestamp && right instanceof Duration) return addTime(left, right.nanos);
  if (left instanceof Duration && right instanceof Timestamp) return addTime(right, left.nanos);
  throw noSuchOverload();
}

function concatenate(left: readonly Value[] | View, right: readonly Value[] | View): Value {
  const own = left instanceof View ? left.concat(elements(right)) : undefined;
  return own ?? [...elements(left), ...elements(right)];
}

export function subtract(left: Value, right: Value): Value {
  if (typeof left === "number" && typeof right === "number" && safe(left - right)) return left - right;
  if (isInt(left) && isInt(right)) return intOf(BigInt(left) - BigInt(right));
  if (left instanceof Double && right instanceof Double) return new Double(left.value - right.value);
  if (left instanceof Uint && right instanceof Uint) return uintOf(BigInt(left.value) - BigInt(right.value));
  if (left instanceof Duration && right instanceof Duration) return durationOf(left.nanos - right.nanos);
  if (left instanceof Timestamp && right instanceof Duration) return addTime(left, -right.nanos);
  if (left instanceof Timestamp && right instanceof Timestamp) return sinceTime(left, right);
  throw noSuchOverload();
}

export function multiply(left: Value, right: Value): Value {
  if (typeof left === "number" && typeof right === "number" && safe(left * right)) return left * right + 0;
  if (isInt(left) && isInt(right)) return intOf(BigInt(left) * BigInt(right));
  if (left instanceof Double && right instanceof Double) return new Double(left.value * right.value);
  if (left instanceof Uint && right instanceof Uint) return uintOf(BigInt(left.value) * BigInt(right.value));
  throw noSuchOverload();
}

export function divide(left: Value, right: Value): Value {
  if (left instanceof Double && right instanceof Double) return new Double(left.value / right.value);
  return whole(left, right, "division by zero", (a, b) => a / b);
}

export function modulo(left: Value, right: Value): Value {
  return whole(left, right, "modulus by zero", (a, b) => a % b);
}

function whole(left: Value, right: Value, zero: string, apply: (a: bigint, b: bigint) => bigint): Value {
  const ints = isInt(left) && isInt(right);
  if (!ints && !(left instanceof Uint && right instanceof Uint)) throw noSuchOverload();
  const a = BigInt(ints ? left : (left as Uint).value);
  const b = BigInt(ints ? right : (right as Uint).value);
  if (b === 0n) throw evaluationError(zero);
  return ints ? intOf(apply(a, b)) : uintOf(apply(a, b));
}

export function negate(value: Value): Value {
  if (typeof value === "number") return value === 0 ? 0 : -value;
  if (typeof value === "bigint") return intOf(-value);
  if (value instanceof Double) return new Double(-value.value);
  if (value instanceof Duration) return durationOf(-value.nanos);
  throw noSuchOverload();
}

export function not(value: Value): boolean {
  if (typeof value !== "boolean") throw noSuchOverload();
  return !value;
}
