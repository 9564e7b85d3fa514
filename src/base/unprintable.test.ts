import assert from "node:assert/strict";
import { test } from "node:test";
import { goQuoted, unprintableIn, withoutUnprintable } from "./unprintable.ts";

const cases: readonly [name: string, text: string, found: readonly string[], rest: string][] = [
  ["ASCII is printed", "kubectl-1.27 (x)", [], "kubectl-1.27 (x)"],
  ["so are letters, marks, numbers and symbols", "é\u0301 ٣ € 界", [], "é\u0301 ٣ € 界"],
  ["no control character is", "a\tb\u007fc", ["\t", "\u007f"], "abc"],
  ["no space but the plain one is", "a\u00a0b\u2003c", ["\u00a0", "\u2003"], "abc"],
  ["none that is half a pair or unassigned is", "a\ud800b\u0378", ["\ud800", "\u0378"], "ab"],
];
for (const [name, text, found, rest] of cases)
  test(name, () => {
    assert.deepEqual(
      unprintableIn(text).map(([character]) => character),
      found,
    );
    assert.equal(withoutUnprintable(text), rest);
  });

test("the index of a character is told", () => {
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
