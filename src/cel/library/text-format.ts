// Format strings like printf's: "%s is %d".format([name, age]); and strings.quote.

import { doubleText, toText, typeNameOf } from "../conversions.ts";
import { type Library, declare, method, overload } from "../declarations.ts";
import { elements, isMapLike, lookUp, mapKeys, sizeOf } from "../operations.ts";
import { listOf, types } from "../types.ts";
import {
  Double,
  Duration,
  Opaque,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
  adapt,
  evaluationError,
  isInt,
  isList,
  noSuchOverload,
} from "../values.ts";
import { chargeWalk, readWhole, walkFactor } from "../walk-limit.ts";

const { dyn, string } = types;
const usualPrecision = 6;
/** Maximum precision. No double has more digits. */
const maxPrecision = 100;

const failure = (letter: string, value: Value) =>
  evaluationError(`error during formatting: ${ruleOf(letter)}, was given ${typeNameOf(value)}`);

type Clause = (value: Value, precision: number) => string;

const clauses: Readonly<Record<string, Clause>> = {
  s: plain,
  d: (value) => {
    if (!isInt(value) && !(value instanceof Uint)) throw failure("d", value);
    return String(value instanceof Uint ? value.value : value);
  },
  f: (value, precision) => {
    const number = realOf(value, "f");
    return special(number) ?? grouped(fixed(number, precision));
  },
  e: (value) => {
    const number = realOf(value, "e");
    return special(number) ?? scientific(number);
  },
  b: (value) => {
    if (typeof value === "boolean") return value ? "1" : "0";
    return based(value, 2, "b");
  },
  o: (value) => based(value, 8, "o"),
  x: hexadecimal,
  X: (value) => hexadecimal(value).toUpperCase(),
};

function based(value: Value, base: number, letter: string): string {
  if (!isInt(value) && !(value instanceof Uint)) throw failure(letter, value);
  return BigInt(value instanceof Uint ? value.value : value).toString(base);
}

function hexadecimal(value: Value): string {
  if (typeof value === "string") return Buffer.from(value).toString("hex");
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return based(value, 16, "x");
}

function realOf(value: Value, letter: string): number {
  if (value instanceof Double) return value.value;
  if (value === "NaN" || value === "Infinity" || value === "-Infinity") return Number(value);
  throw failure(letter, value);
}

const special = (value: number): string | undefined =>
  Number.isNaN(value) ? "NaN" : Number.isFinite(value) ? undefined : value < 0 ? "-∞" : "∞";

/** Rounds to nearest, half to even. The hundred digits requested include all digits of a double. */
function fixed(value: number, precision: number): string {
  const rounded = value.toFixed(precision);
  const exact = value.toFixed(maxPrecision);
  const end = exact.length - maxPrecision + precision;
  const halfway = precision < maxPrecision && /^50*$/.test(exact.slice(end));
  const odd = Number(rounded.at(-1)) % 2 === 1;
  if (!halfway || !odd) return rounded;
  return precision === 0 ? exact.slice(0, end - 1) : exact.slice(0, end);
}

const grouped = (text: string): string =>
  text.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ","));

const raised = "⁰¹²³⁴⁵⁶⁷⁸⁹";
/** 1.052033 × 10⁰³, with narrow spaces. */
function scientific(value: number): string {
  const [digits, exponent] = value.toExponential(usualPrecision).split("e") as [string, string];
  const power = exponent.slice(1).padStart(2, "0");
  const sign = exponent.startsWith("-") ? "⁻" : "";
  return `${digits}\u202f×\u202f10${sign}${Array.from(power, (digit) => raised[Number(digit)]).join("")}`;
}

function plain(value: Value): string {
  if (value === null) return "null";
  if (value instanceof TypeValue) return value.name;
  if (isList(value))
    return `[${elements(value)
      .map((item) => literal(adapt(item)))
      .join(", ")}]`;
  if (value instanceof Opaque) throw failure("s", value);
  if (isMapLike(value)) {
    const entries = mapKeys(value).map((key) => [literal(key), literal(lookUp(value, key)!)] as const);
    entries.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
    return `{${entries.map(([key, inner]) => `${key}:${inner}`).join(", ")}}`;
  }
  return value instanceof Double ? doubleText(value.value) : toText(value);
}

/** Formats a value nested in a list or map as an expression would spell it. */
function literal(value: Value): string {
  chargeWalk(1 + (sizeOf(value) ?? 0) * walkFactor);
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return `b${JSON.stringify(Buffer.from(value).toString())}`;
  if (value instanceof Timestamp) return `timestamp(${JSON.stringify(toText(value))})`;
  if (value instanceof Duration) return `duration(${JSON.stringify(toText(value))})`;
  if (value instanceof Double)
    return Number.isFinite(value.value)
      ? value.value.toFixed(usualPrecision)
      : JSON.stringify(doubleText(value.value));
  const text = plain(value);
  chargeWalk(text.length * walkFactor);
  return text;
}

/** The kinds of values that each clause accepts, and its error message. */
export const clauseRules: Readonly<Record<string, { readonly kinds: string; readonly rule: string }>> = {
  s: {
    kinds: "list map int uint double bool string timestamp bytes duration type null",
    rule: "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  },
  d: { kinds: "int uint", rule: "decimal clause can only be used on integers" },
  f: { kinds: "double string", rule: "fixed-point clause can only be used on doubles" },
  e: { kinds: "double string", rule: "scientific clause can only be used on doubles" },
  b: { kinds: "int uint bool", rule: "only integers and bools can be formatted as binary" },
  o: { kinds: "int uint", rule: "octal clause can only be used on integers" },
  x: {
    kinds: "int uint string bytes",
    rule: "only integers, byte buffers, and strings can be formatted as hex",
  },
};
const ruleOf = (letter: string): string => clauseRules[letter.toLowerCase()]!.rule;

/** A clause: a percent sign, an optional precision, and a letter. */
const clausePattern = /%(?:%|(\.\d*)?(.?))/gsu;

/** Replaces each clause of a format string. Throws at the first invalid or surplus clause. */
export function replaceClauses(
  text: string,
  count: number,
  put: (at: number, letter: string, digits: number) => string,
): { readonly text: string; readonly clauses: number } {
  let next = 0;
  const replaced = text.replaceAll(
    clausePattern,
    (found, precision: string | undefined, letter: string | undefined) => {
      if (found === "%%") return "%";
      if (next >= count) throw evaluationError(`index ${next} out of range`);
      if (found === "%") throw evaluationError("unexpected end of string");
      const refused = (reason: string) => evaluationError(`could not parse formatting clause: ${reason}`);
      if (!letter) throw refused("error while parsing precision: could not find end of precision specifier");
      if (precision === "." || Number(precision?.slice(1) ?? 0) > maxPrecision)
        throw refused("error while parsing precision: error while converting precision to integer");
      if (!Object.hasOwn(clauses, letter)) throw refused(`unrecognized formatting clause "${letter}"`);
      return put(next++, letter, precision === undefined ? usualPrecision : Number(precision.slice(1)));
    },
  );
  return { text: replaced, clauses: next };
}

function format(text: Value, list: Value): string {
  if (typeof text !== "string" || !isList(list)) throw noSuchOverload();
  const items = elements(list);
  const put = (at: number, letter: string, digits: number) =>
    readWhole(clauses[letter]!(adapt(items[at]!), digits));
  return replaceClauses(readWhole(text), items.length, put).text;
}

const escapes: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

// oxlint-disable-next-line no-control-regex
const escaped = /[\u0007-\u000d\\"]/g;

const quote = (text: Value): string =>
  `"${readWhole(text as string)
    .toWellFormed()
    .replaceAll(escaped, (found) => escapes[found] ?? found)}"`;

export const textFormatLibrary: Library = [
  declare("format", method("string_format", [string, listOf(dyn)], string, format)),
  declare("strings.quote", overload("strings_quote", [string], string, quote)),
];
