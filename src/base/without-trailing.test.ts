import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutTrailing } from "./without-trailing.ts";

const cases: [text: string, left: string][] = [
  ["a**", "a"],
  ["**a*b", "**a*b"],
  ["***", ""],
  ["", ""],
];
for (const [text, left] of cases)
  test(`"${text}" ends without its stars as "${left}"`, () => {
    assert.equal(withoutTrailing(text, "*"), left);
  });
