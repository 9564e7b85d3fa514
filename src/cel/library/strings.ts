// Functions on strings. Positions count code points.

import { type Implementation, type Library, declare, method } from "../declarations.ts";
import { elements } from "../operations.ts";
import { listOf, types } from "../types.ts";
import { type Value, View, evaluationError, noSuchOverload } from "../values.ts";
import { chargeWalk, codePoints, readWhole, walkFactor } from "../walk-limit.ts";

const { int, string } = types;

const outOfRange = (at: Value) => evaluationError(`index out of range: ${String(at)}`);

/** Returns the unit offset of a code point. */
function unitsBefore(text: string, at: number): number {
  if (codePoints(text) === text.length) return at;
  readWhole(text);
  let units = 0;
  for (let count = 0; count < at; count += 1) units += text.codePointAt(units)! > 0xffff ? 2 : 1;
  return units;
}

/** Returns the number of code points before a unit offset. */
const pointsBefore = (text: string, units: number): number => codePoints(text.slice(0, units));

function charAt(text: string, at: number): string {
  if (at < 0 || at > codePoints(text)) throw outOfRange(at);
  const code = text.codePointAt(unitsBefore(text, at));
  return code === undefined ? "" : String.fromCodePoint(code);
}

function indexOf(text: string, part: string, from = 0): number {
  if (part === "") return from;
  if (from < 0 || from >= codePoints(text)) throw outOfRange(from);
  const found = readWhole(text).indexOf(part, unitsBefore(text, from));
  return found < 0 ? -1 : pointsBefore(text, found);
}

function lastIndexOf(text: string, part: string, from?: number): number {
  const length = codePoints(text);
  if (part === "") return from ?? length;
  const start = from ?? length - 1;
  if (start < 0 || start >= length) throw outOfRange(start);
  const found = readWhole(text).lastIndexOf(part, unitsBefore(text, start));
  return found < 0 ? -1 : pointsBefore(text, found);
}

function substring(text: string, from: number, to?: number): string {
  const length = codePoints(text);
  if (to !== undefined && from > to)
    throw evaluationError(`invalid substring range. start: ${from}, end: ${to}`);
  if (from < 0 || from > length) throw outOfRange(from);
  if (to !== undefined && (to < 0 || to > length)) throw outOfRange(to);
  return readWhole(text).slice(unitsBefore(text, from), to === undefined ? undefined : unitsBefore(text, to));
}

/** Replaces the first `limit` occurrences; a negative limit means all. */
function replace(text: string, from: string, to: string, most: number | bigint = -1): string {
  const limit = Number(most);
  if (limit === 0 || from === to) return text;
  if (from !== "") {
    const parts = readWhole(text).split(from, limit < 0 ? undefined : limit + 1);
    chargeWalk(parts.length);
    if (limit < 0) return joined(parts, to);
    chargeWalk((text.length + Math.min(limit, parts.length) * to.length) * walkFactor);
    let rest = text;
    let result = "";
    for (let count = 0; count < limit; count += 1) {
      const at = rest.indexOf(from);
      if (at < 0) break;
      result += rest.slice(0, at) + to;
      rest = rest.slice(at + from.length);
    }
    return result + rest;
  }
  const points = Array.from(readWhole(text));
  const places = limit < 0 ? points.length + 1 : limit;
  chargeWalk(Math.min(places, points.length + 1) * to.length * walkFactor);
  return (
    points.map((point, at) => (at < places ? to + point : point)).join("") +
    (points.length < places ? to : "")
  );
}

function split(text: string, by: string, most: number | bigint = -1): string[] {
  const limit = Number(most);
  if (limit === 0) return [];
  const parts = by === "" ? Array.from(readWhole(text)) : readWhole(text).split(by);
  chargeWalk(parts.length);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(by)];
}

function join(list: Value, separator: Value = ""): string {
  if (!Array.isArray(list) && !(list instanceof View)) throw noSuchOverload();
  const items = elements(list as readonly Value[] | View);
  if (!items.every((item) => typeof item === "string")) throw noSuchOverload();
  return joined(items, separator as string);
}

/** Joins strings after charging for the result, which may be longer than any string can be. */
function joined(parts: readonly string[], separator: string): string {
  const between = Math.max(parts.length - 1, 0) * separator.length;
  chargeWalk(parts.reduce((length, part) => length + part.length, between) * walkFactor);
  return parts.join(separator);
}

/** Trims Unicode whitespace, but not the byte order mark, which JavaScript's trim also removes. */
function trim(text: string): string {
  let [start, end] = [0, readWhole(text).length];
  while (start < end && whiteSpace.test(text[start]!)) start++;
  while (end > start && whiteSpace.test(text[end - 1]!)) end--;
  return text.slice(start, end);
}

const whiteSpace = /\p{White_Space}/u;

const asciiCase = (text: string, pattern: RegExp, change: (found: string) => string): string =>
  readWhole(text).replaceAll(pattern, change);

/** The planner has checked the types. */
const typed = (apply: (...args: never[]) => Value): Implementation => apply as Implementation;

export const stringsLibrary: Library = [
  declare("charAt", method("string_char_at_int", [string, int], string, typed(charAt))),
  declare(
    "indexOf",
    method("string_index_of_string", [string, string], int, typed(indexOf)),
    method("string_index_of_string_int", [string, string, int], int, typed(indexOf)),
  ),
  declare(
    "lastIndexOf",
    method("string_last_index_of_string", [string, string], int, typed(lastIndexOf)),
    method("string_last_index_of_string_int", [string, string, int], int, typed(lastIndexOf)),
  ),
  declare(
    "lowerAscii",
    method(
      "string_lower_ascii",
      [string],
      string,
      typed((text: string) => asciiCase(text, /[A-Z]+/g, (found) => found.toLowerCase())),
    ),
  ),
  declare(
    "upperAscii",
    method(
      "string_upper_ascii",
      [string],
      string,
      typed((text: string) => asciiCase(text, /[a-z]+/g, (found) => found.toUpperCase())),
    ),
  ),
  declare(
    "replace",
    method("string_replace_string_string", [string, string, string], string, typed(replace)),
    method("string_replace_string_string_int", [string, string, string, int], string, typed(replace)),
  ),
  declare(
    "split",
    method("string_split_string", [string, string], listOf(string), typed(split)),
    method("string_split_string_int", [string, string, int], listOf(string), typed(split)),
  ),
  declare(
    "substring",
    method("string_substring_int", [string, int], string, typed(substring)),
    method("string_substring_int_int", [string, int, int], string, typed(substring)),
  ),
  declare("trim", method("string_trim", [string], string, typed(trim))),
  declare(
    "join",
    method("list_join", [listOf(string)], string, join),
    method("list_join_string", [listOf(string), string], string, join),
  ),
];
