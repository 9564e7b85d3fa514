// find and findAll: substrings that match a regular expression.

import { type Library, declare, method } from "../declarations.ts";
import { type Pattern, compilePattern } from "../regex/pattern.ts";
import { listOf, types } from "../types.ts";
import { type Value, evaluationError, noSuchOverload } from "../values.ts";

const { int, string } = types;

function patternOf(text: Value | undefined): Pattern {
  if (typeof text !== "string") throw noSuchOverload();
  const compiled = compilePattern(text);
  if ("error" in compiled) throw evaluationError(`Illegal regex: ${compiled.error}`);
  return compiled.pattern;
}

const findAll = (text: Value | undefined, pattern: Value | undefined, limit: Value = -1): Value =>
  patternOf(pattern).findAll(text as string, Number(limit));

export const regexLibrary: Library = [
  declare(
    "find",
    method(
      "string_find_string",
      [string, string],
      string,
      (text, pattern) => patternOf(pattern).find(text as string) ?? "",
    ),
  ),
  declare(
    "findAll",
    method("string_find_all_string", [string, string], listOf(string), findAll),
    method("string_find_all_string_int", [string, string, int], listOf(string), findAll),
  ),
];
