// Run-time values. JSON data is used directly: booleans, strings, null, arrays and objects represent
// themselves; a JavaScript number is an int, and a bigint is an int beyond 2^53. Types that JSON does not
// distinguish have a class.

import { type CelType, optionalType, types } from "./types.ts";

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Double
  | Uint
  | Uint8Array
  | Timestamp
  | Duration
  | TypeValue
  | readonly Value[]
  | MapValue
  | View
  | Opaque
  | { readonly [key: string]: Value };

/**
 * Base class of values that JSON data cannot represent, which distinguishes them from plain objects with one
 * check.
 */
abstract class BeyondJson {}

export class Double extends BeyondJson {
  readonly value: number;
  constructor(value: number) {
    super();
    this.value = value;
  }
}

/** An unsigned integer: a number up to 2^53, a bigint beyond. */
export class Uint extends BeyondJson {
  readonly value: number | bigint;
  constructor(value: number | bigint) {
    super();
    this.value = value;
  }
}

/** A point in time; the offset is kept only for printing. */
export class Timestamp extends BeyondJson {
  readonly seconds: number;
  readonly nanos: number;
  readonly offsetMinutes: number;
  constructor(seconds: number, nanos: number, offsetMinutes = 0) {
    super();
    this.seconds = seconds;
    this.nanos = nanos;
    this.offsetMinutes = offsetMinutes;
  }
}

export class Duration extends BeyondJson {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }
}

export class TypeValue extends BeyondJson {
  readonly name: string;
  constructor(name: string) {
    super();
    this.name = name;
  }
}

/** The canonical form of a map key: equal numbers of different types share one. */
export type MapKey = string | number | bigint | boolean;

/** A map built by an expression. */
export class MapValue extends BeyondJson {
  readonly entries: ReadonlyMap<MapKey, readonly [key: Value, value: Value]>;
  constructor(entries: ReadonlyMap<MapKey, readonly [key: Value, value: Value]>) {
    super();
    this.entries = entries;
  }
}

/** Data viewed through a schema: members are converted when they are read. */
export abstract class View extends BeyondJson {
  abstract readonly view: "list" | "map" | "object";
  abstract readonly size: number;
  /** Returns a member by index or key; undefined if it is absent. */
  abstract get(key: string | number): Value | undefined;
  /** Returns the elements of a list, or the keys of a map or object. */
  abstract values(): readonly Value[];
  /** The underlying data. */
  abstract readonly raw: unknown;
  /** Specialized equality; undefined if that of lists or maps applies. */
  equals(_other: Value, _equal: (left: Value, right: Value) => boolean): boolean | undefined {
    return undefined;
  }
  /** Specialized concatenation; undefined if that of lists applies. */
  concat(_other: readonly Value[]): Value | undefined {
    return undefined;
  }
}

/** A value that only library functions understand. */
export abstract class Opaque extends BeyondJson {
  abstract readonly type: CelType;
  /** Size of the value for call costs. */
  readonly costSize: number = 1;
  equals(other: Opaque): boolean {
    return this === other;
  }
}

const anyOptional = optionalType(types.dyn);

/** A value that may be absent. */
export class OptionalValue extends Opaque {
  readonly type: CelType = anyOptional;
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    super();
    this.value = value;
  }
}
export const optionalNone = new OptionalValue(undefined);
export const optionalOf = (value: Value | undefined): OptionalValue =>
  value === undefined ? optionalNone : new OptionalValue(value);

/** An evaluation error: the result of the expression unless `&&`, `||` or a macro absorbs it. */
export class EvaluationError extends Error {
  override readonly name = "EvaluationError";
}

/** Creates an evaluation error without a stack trace: such errors are results, and frequent. */
export function evaluationError(message: string): EvaluationError {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const error = new EvaluationError(message);
  Error.stackTraceLimit = limit;
  return error;
}

export const noSuchOverload = (): EvaluationError => evaluationError("no such overload");
export const noSuchKey = (key: Value): EvaluationError =>
  evaluationError(`no such key: ${typeof key === "object" ? "" : String(key)}`);

const minInt = -(1n << 63n);
const maxInt = (1n << 63n) - 1n;
const maxUint = (1n << 64n) - 1n;
const compact = (value: bigint): number | bigint =>
  value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;

/** Returns the canonical form of an int. */
export function intOf(value: bigint): number | bigint {
  if (value < minInt || value > maxInt) throw evaluationError("integer overflow");
  return compact(value);
}

export function uintOf(value: bigint): Uint {
  if (value < 0n || value > maxUint) throw evaluationError("unsigned integer overflow");
  return new Uint(compact(value));
}

/** Converts a JSON number: integers within 64 bits are ints, all others doubles. */
export function numberOf(value: number): number | bigint | Double {
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  if (Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63) return BigInt(value);
  return new Double(value);
}

/** Converts a member of JSON data, or of a list or map built by an expression. */
export const adapt = (value: Value): Value => (typeof value === "number" ? numberOf(value) : value);

export const isInt = (value: Value): value is number | bigint =>
  typeof value === "number" || typeof value === "bigint";
export const isList = (value: Value): value is readonly Value[] | View =>
  Array.isArray(value) || (value instanceof View && value.view === "list");

/** Reports whether the value is a plain JSON object. */
export const isRecord = (value: Value): value is { readonly [key: string]: Value } =>
  typeof value === "object" &&
  value !== null &&
  !(value instanceof BeyondJson) &&
  !Array.isArray(value) &&
  !(value instanceof Uint8Array);
