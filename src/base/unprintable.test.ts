import assert from "node:assert/strict";
import { test } from "node:test";
import { goQuoted, unprintableIn, withoutUnprintable } from "./unprintable.ts";

const cases: readonly [name: string, text: string, found: readonly string[], rest: string][] = [
  ["ASCII is printable", "kubectl-1.27 (x)", [], "kubectl-1.27 (x)"],
  ["letters, marks, numbers and symbols are printable", "é\u0301 ٣ € 界", [], "é\u0301 ٣ € 界"],
  ["control characters are unprintable", "a\tb\u007fc", ["\t", "\u007f"], "abc"],
  ["only the plain space is printable", "a\u00a0b\u2003c", ["\u00a0", "\u2003"], "abc"],
  ["lone surrogates and unassigned characters are unprintable", "a\ud800b\u0378", ["\ud800", "\u0378"], "ab"],
];
for (const [name, text, found, rest] of cases)
  test(name, () => {
    assert.deepEqual(
      unprintableIn(text).map(([character]) => character),
      found,
    );
    assert.equal(withoutUnprintable(text), rest);
  });

test("the index of each character is returned", () => {
  assert.deepEqual(
    unprintableIn("ab\tc\n").map(({ index }) => index),
    [2, 4],
  );
});

const quotes: [text: string, quoted: string][] = [
  ["", '""'],
  ["a", '"a"'],
  ['a"b\\', String.raw`"a\"b\\"`],
  ["a\nb\tc", String.raw`"a\nb\tc"`],
  ["\0\x01\x07\v\x7f", String.raw`"\x00\x01\a\v\x7f"`],
  ["<é>", '"<é>"'],
  ["\u00a0\u200b", String.raw`"\u00a0\u200b"`],
  ["😀\u{e0001}", String.raw`"😀\U000e0001"`],
];
for (const [text, quoted] of quotes)
  test(`${JSON.stringify(text)} in Go's quotes`, () => assert.equal(goQuoted(text), quoted));
