import assert from "node:assert/strict";
import { test } from "node:test";
import { cut, visible, visibleLine } from "./visible.ts";

const cases: [name: string, text: string, shown: string][] = [
  ["plain text stays", "Back-off restarting failed container", "Back-off restarting failed container"],
  ["markup is text like any other", "<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
  ["lines and tabs stay", "a\n\tb", "a\n\tb"],
  ["an escape shows as its picture", "\u001b[31mred", "␛[31mred"],
  ["a null shows", "a\u0000b", "a␀b"],
  ["delete shows", "\u007f", "␡"],
  ["a control of the upper half shows its code", "\u0085", "‹U+0085›"],
  ["a right-to-left override shows its code", "user\u202egpj.exe", "user‹U+202E›gpj.exe"],
  ["isolates show their code", "\u2066x\u2069", "‹U+2066›x‹U+2069›"],
  ["a zero-width space shows its code", "a\u200bb", "a‹U+200B›b"],
  ["a tag character shows its code", "a\u{e0041}", "a‹U+E0041›"],
  ["letters of any script stay", "häßlich 日本 שלום", "häßlich 日本 שלום"],
];
for (const [name, text, shown] of cases) test(name, () => assert.equal(visible(text), shown));

test("visibleLine shows line breaks", () => assert.equal(visibleLine("a\n  b"), "a ⏎ b"));

test("a long text is truncated, and omitted characters are counted", () => {
  assert.deepEqual(cut("abcdef", 4), { text: "abcd", more: 2 });
  assert.deepEqual(cut("abc", 4), { text: "abc", more: 0 });
  assert.deepEqual(cut("abc😀", 4), { text: "abc", more: 2 });
});
