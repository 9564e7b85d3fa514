// Plain JSON values and the operations that patches need. None of them modifies its input.

import { setOwn } from "#base";

export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

const owns = Object.prototype.hasOwnProperty;

/** Returns the value of an own property, never an inherited one. */
export const own = (object: JsonObject, key: string): Json | undefined =>
  owns.call(object, key) ? object[key] : undefined;
export const has = (object: JsonObject, key: string): boolean => owns.call(object, key);

export function withKey(object: JsonObject, key: string, value: Json): JsonObject {
  const copy = { ...object };
  setOwn(copy, key, value);
  return copy;
}

export function withoutKey(object: JsonObject, key: string): JsonObject {
  if (!has(object, key)) return object;
  const copy: Record<string, Json> = {};
  for (const each in object) if (each !== key) setOwn(copy, each, object[each]);
  return copy;
}

export function isEmptyObject(object: JsonObject): boolean {
  for (const key in object) if (owns.call(object, key)) return false;
  return true;
}

/** Reports deep equality: key order does not matter, item order does. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return sameNumber(a, b);
  if (isList(a)) {
    if (!isList(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!sameJson(a[i], b[i])) return false;
    return true;
  }
  if (isList(b)) return false;
  let keys = 0;
  for (const key in a) {
    if (!owns.call(b, key) || !sameJson(a[key], b[key])) return false;
    keys++;
  }
  for (const _ in b) keys--;
  return keys === 0;
}

// A 64-bit integer may be a number on one side and a bigint on the other.
function sameNumber(a: Json | undefined, b: Json | undefined): boolean {
  if (typeof a === "bigint" && typeof b === "number") return Number.isInteger(b) && a === BigInt(b);
  if (typeof a === "number" && typeof b === "bigint") return sameNumber(b, a);
  return false;
}

/** Returns the length in bytes of the value's compact JSON. */
export function jsonSize(value: Json): number {
  if (typeof value === "string") return Buffer.byteLength(JSON.stringify(value));
  if (typeof value !== "object" || value === null) return String(value).length;
  let size = 2;
  if (isList(value)) {
    for (const item of value) size += jsonSize(item) + 1;
    return value.length === 0 ? size : size - 1;
  }
  let keys = 0;
  for (const key in value) {
    size += jsonSize(key) + jsonSize(value[key]!) + 2;
    keys++;
  }
  return keys === 0 ? size : size - 1;
}

/** Reports whether lists and objects nest deeper than the limit. */
export function isDeeper(value: Json, than: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (than === 0) return true;
  for (const item of isList(value) ? value : Object.values(value)) if (isDeeper(item, than - 1)) return true;
  return false;
}
