// Type conversions: int(), uint(), double(), string(), bytes(), bool(), timestamp(), duration(), type().

import {
  durationFromText,
  durationOf,
  timestampFromText,
  timestampOf,
  timestampText,
} from "./time-values.ts";
import {
  Double,
  Duration,
  type EvaluationError,
  Opaque,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
  evaluationError,
  intOf,
  isInt,
  isList,
  uintOf,
} from "./values.ts";
import { readWhole } from "./walk-limit.ts";

const typeNames = {
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  null: "null_type",
} as const;

/** Returns the type name that type() yields for a value. */
export function typeNameOf(value: Value): string {
  if (value === null) return typeNames.null;
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "string":
      return "string";
    case "number":
    case "bigint":
      return "int";
    default:
  }
  if (value instanceof Double) return "double";
  if (value instanceof Uint) return "uint";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Timestamp) return typeNames.timestamp;
  if (value instanceof Duration) return typeNames.duration;
  if (value instanceof TypeValue) return "type";
  if (value instanceof Opaque) return "name" in value.type ? value.type.name : value.type.kind;
  return isList(value) ? "list" : "map";
}

export const toType = (value: Value): TypeValue => new TypeValue(typeNameOf(value));

const failed = (value: Value, to: string): EvaluationError =>
  evaluationError(`type conversion error from '${typeNameOf(value)}' to '${to}'`);

export function toInt(value: Value): Value {
  if (isInt(value)) return value;
  if (value instanceof Uint) return intOf(BigInt(value.value));
  if (value instanceof Double) return intOf(wholePart(value.value, -(2 ** 63), 2 ** 63, "integer overflow"));
  if (value instanceof Timestamp) return value.seconds;
  if (value instanceof Duration) return intOf(value.nanos);
  if (typeof value === "string") {
    const parsed = integerIn(value, /^[+-]?[0-9]+$/);
    if (parsed !== undefined && parsed >= -(1n << 63n) && parsed < 1n << 63n) return intOf(parsed);
  }
  throw failed(value, "int");
}

/** The digits of the largest integer of 64 bits. */
const maxDigits = 20;

/**
 * Returns the integer in a text of the form; undefined if it has another form or more significant digits than
 * any integer of 64 bits: the time to parse digits grows faster than their number.
 */
function integerIn(text: string, form: RegExp): bigint | undefined {
  if (!form.test(readWhole(text))) return undefined;
  let at = /^[+-]/.test(text) ? 1 : 0;
  while (text[at] === "0") at += 1;
  const digits = text.slice(at);
  if (digits.length > maxDigits) return undefined;
  return text.startsWith("-") ? -BigInt(digits) : BigInt(digits);
}

/** The bounds themselves are out of range, as in the reference. */
function wholePart(value: number, least: number, most: number, overflow: string): bigint {
  if (!Number.isFinite(value) || value <= least || value >= most) throw evaluationError(overflow);
  return BigInt(Math.trunc(value));
}

export function toUint(value: Value): Value {
  if (value instanceof Uint) return value;
  if (isInt(value)) return uintOf(BigInt(value));
  if (value instanceof Double) {
    if (value.value < 0) throw evaluationError("unsigned integer overflow");
    return uintOf(wholePart(value.value, -1, 2 ** 64, "unsigned integer overflow"));
  }
  if (typeof value === "string") {
    const parsed = integerIn(value, /^[0-9]+$/);
    if (parsed !== undefined && parsed < 1n << 64n) return uintOf(parsed);
  }
  throw failed(value, "uint");
}

const realText = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const namedReals: Readonly<Record<string, number>> = { inf: Infinity, infinity: Infinity, nan: NaN };

export function toDouble(value: Value): Value {
  if (value instanceof Double) return value;
  if (isInt(value)) return new Double(Number(value));
  if (value instanceof Uint) return new Double(Number(value.value));
  if (typeof value === "string") {
    if (realText.test(readWhole(value)) && Number.isFinite(Number(value))) return new Double(Number(value));
    const name = value.replace(/^[+-]/, "").toLowerCase();
    if (Object.hasOwn(namedReals, name))
      return new Double(namedReals[name]! * (value.startsWith("-") ? -1 : 1));
  }
  throw failed(value, "double");
}

export function toBool(value: Value): Value {
  if (typeof value === "boolean") return value;
  if (typeof value === "string") {
    if (/^(?:1|t|T|TRUE|true|True)$/.test(value)) return true;
    if (/^(?:0|f|F|FALSE|false|False)$/.test(value)) return false;
  }
  throw failed(value, "bool");
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function toText(value: Value): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || isInt(value)) return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Double) return doubleText(value.value);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof Uint8Array) {
    try {
      return utf8.decode(value);
    } catch {
      throw evaluationError("invalid UTF-8 in bytes, cannot convert to string");
    }
  }
  throw failed(value, "string");
}

/** Formats a double like %g: with an exponent below 1e-4 and from 1e6 on. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [digits, exponentText] = value.toExponential().split("e") as [string, string];
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 6) {
    const sign = exponent < 0 ? "-" : "+";
    return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  return plainText(value);
}

/** Returns the decimal digits without an exponent. */
export function plainText(value: number): string {
  const text = String(value);
  if (!text.includes("e")) return text;
  const [mantissa, exponentText] = text.split("e") as [string, string];
  const exponent = Number(exponentText);
  const sign = mantissa.startsWith("-") ? "-" : "";
  const [whole, fraction = ""] = mantissa.replace("-", "").split(".") as [string, string?];
  const digits = whole + fraction;
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  return sign + digits.padEnd(exponent + 1, "0");
}

export function durationText({ nanos }: Duration): string {
  const seconds = Number(nanos / 1_000_000_000n) + Number(nanos % 1_000_000_000n) / 1e9;
  return `${plainText(seconds)}s`;
}

export function toBytes(value: Value): Value {
  if (value instanceof Uint8Array) return value;
  if (typeof value === "string") return Buffer.from(value);
  throw failed(value, "bytes");
}

export function toTimestamp(value: Value): Value {
  if (value instanceof Timestamp) return value;
  if (isInt(value)) return timestampOf(Number(value), 0);
  if (typeof value === "string") {
    const time = timestampFromText(readWhole(value));
    if (time) return time;
  }
  throw failed(value, typeNames.timestamp);
}

export function toDuration(value: Value): Value {
  if (value instanceof Duration) return value;
  if (isInt(value)) return durationOf(BigInt(value));
  if (typeof value === "string") {
    const duration = durationFromText(readWhole(value));
    if (duration) return duration;
  }
  throw failed(value, typeNames.duration);
}
