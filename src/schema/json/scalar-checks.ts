// Scalar checks of the fast decoder. Each returns the value in canonical form or throws `irregular`.

import {
  canonicalDuration,
  canonicalMicroTime,
  microTimeOrZero,
  canonicalQuantity,
  canonicalTime,
} from "#base";
import { isRemembered } from "../raw.ts";
import { isShared } from "../shared-values.ts";
import type { ScalarName } from "../shape.ts";
import { canonicalBase64 } from "./base64.ts";
import { type Check, type WalkState, irregular } from "./walk-state.ts";

const string: Check = (value) => {
  if (typeof value !== "string") throw irregular;
  return value;
};
const number: Check = (value) => {
  if (typeof value !== "number") throw irregular;
  return value;
};
const integer =
  (least: number, most: number): Check =>
  (value) => {
    if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most)
      throw irregular;
    return value;
  };
const wide =
  (least: bigint, most: bigint): Check =>
  (value) => {
    if (typeof value === "number" && Number.isSafeInteger(value) && BigInt(value) >= least) return value;
    if (typeof value !== "bigint" || value < least || value > most) throw irregular;
    const small = Number(value);
    return Number.isSafeInteger(small) ? small : value;
  };
const int64: Check = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : wideInt64(value, undefined as never);
const wideInt64 = wide(-(1n << 63n), (1n << 63n) - 1n);

/** Returns a check for a string type with a canonical form. Errors are left to the careful decoder. */
const text =
  (canonical: (value: string) => unknown): Check =>
  (value) => {
    if (typeof value !== "string") throw irregular;
    try {
      return canonical(value);
    } catch {
      throw irregular;
    }
  };

/** Counts the keys of untyped data. */
function anything(value: unknown, state: WalkState): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (--state.depthLeft < 0) throw irregular;
  if (Array.isArray(value)) for (const item of value) anything(item, state);
  else
    for (const key in value) {
      state.keys++;
      anything((value as Record<string, unknown>)[key], state);
    }
  state.depthLeft++;
  return value;
}
/**
 * Marks values that printing may respell: keys starting with a digit may be reordered, and -0 loses its sign.
 */
function checkSpelling(value: unknown, state: WalkState): void {
  if (typeof value === "number") state.respelled ||= Object.is(value, -0);
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    state.numbers = true;
    for (const item of value) checkSpelling(item, state);
  } else
    for (const key in value) {
      const first = key.charCodeAt(0);
      state.respelled ||= first >= 48 && first <= 57;
      checkSpelling((value as Record<string, unknown>)[key], state);
    }
}
const raw: Check = (value, state) => {
  if (value instanceof Uint8Array)
    throw new TypeError("a raw object given as bytes cannot be encoded as JSON");
  anything(value, state);
  if (state.own) {
    state.raw ||= typeof value === "object" && value !== null && !Array.isArray(value);
    checkSpelling(value, state);
  } else if (isRemembered(value)) state.remembered = true;
  return value;
};

const readMicroTime = text(microTimeOrZero);
const writtenMicroTime = text(canonicalMicroTime);

export const scalarChecks: Readonly<Record<ScalarName, Check>> = {
  string,
  bool: (value) => {
    if (typeof value !== "boolean") throw irregular;
    return value;
  },
  int32: integer(-2147483648, 2147483647),
  uint32: integer(0, 4294967295),
  int64,
  uint64: wide(0n, (1n << 64n) - 1n),
  double: number,
  float: number,
  bytes: text(canonicalBase64),
  rawBytes: () => {
    throw irregular; // gRPC peers only
  },
  time: text(canonicalTime),
  microTime: (value, state) => (state.reading ? readMicroTime : writtenMicroTime)(value, state),
  duration: text(canonicalDuration),
  quantity: text((value) => canonicalQuantity(value.trim())),
  intOrString: (value) => {
    if (typeof value === "string") return value;
    return scalarChecks.int32(value, undefined as never);
  },
  rawExtension: raw,
  fieldsV1: (value, state) => (isShared(value) ? value : anything(value, state)),
  json: raw,
};
