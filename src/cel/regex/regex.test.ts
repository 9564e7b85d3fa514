import assert from "node:assert/strict";
import { test } from "node:test";
import { compilePattern } from "./pattern.ts";

function find(pattern: string, text: string): string | undefined | { error: string } {
  const compiled = compilePattern(pattern);
  return "error" in compiled ? { error: compiled.error } : compiled.pattern.find(text);
}

const found: [pattern: string, text: string, match: string | undefined][] = [
  ["a+", "baaac", "aaa"],
  ["a+?", "baaac", "a"],
  ["a|ab", "ab", "a"],
  ["(?:ab|a)c", "xacabc", "ac"],
  ["[^a-c]+", "abcxyz", "xyz"],
  ["^b", "ab", undefined],
  ["(?m)^b", "a\nb", "b"],
  ["a$", "ba", "a"],
  ["(?m)a$", "a\nb", "a"],
  [String.raw`\bfoo\b`, "a foo b", "foo"],
  [String.raw`\d{2,3}`, "1 1234", "123"],
  [String.raw`\pL+`, "12\u00e9\u00e8x", "\u00e9\u00e8x"],
  [String.raw`\p{Greek}`, "a\u03b1", "\u03b1"],
  ["[[:alpha:]]+", "12ab", "ab"],
  ["(?i)straSSe", "STRASSE", "STRASSE"],
  ["(?s).+", "a\nb", "a\nb"],
  [".+", "a\nb", "a"],
  [String.raw`\Qa.b\E`, "axb a.b", "a.b"],
  [String.raw`\x41\x{1F600}`, "A\u{1f600}", "A\u{1f600}"],
  ["(?U)a+", "aaa", "a"],
  ["a{0}b", "b", "b"],
  ["", "x", ""],
  ["(a*)*", "aa", "aa"],
  ["[]a]", "]", "]"],
  [String.raw`[a\_-]+\_`, "x_a-_", "_a-_"],
  ["a{,2}", "a{,2}", "a{,2}"],
];
for (const [pattern, text, match] of found) {
  test(`${pattern} finds ${JSON.stringify(match)} in ${JSON.stringify(text)}`, () => {
    assert.equal(find(pattern, text), match);
    const compiled = compilePattern(pattern);
    assert.ok("pattern" in compiled);
    assert.equal(compiled.pattern.test(text), match !== undefined);
  });
}

const refused: [pattern: string, error: string][] = [
  ["(", "missing closing ): `(`"],
  ["a)", "unexpected ): `a)`"],
  ["[a", "missing closing ]: `[a`"],
  ["*a", "missing argument to repetition operator: `*`"],
  ["a**", "invalid nested repetition operator: `*`"],
  ["a{1001}", "invalid repeat count: `{1001}`"],
  [String.raw`(a)\1`, "invalid escape sequence: `\\1`"],
  ["(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
  ["[b-a]", "invalid character class range: `b-a`"],
  ["(((a{100}){100}){100})", "expression too large: `(((a{100}){100}){100})`"],
];
for (const [pattern, error] of refused) {
  test(`${pattern} is rejected`, () =>
    assert.deepEqual(find(pattern, "a"), { error: `error parsing regexp: ${error}` }));
}

test("all matches are found, without overlaps and without empty matches after another", () => {
  const compiled = compilePattern("a*");
  assert.ok("pattern" in compiled);
  assert.deepEqual(compiled.pattern.findAll("baac", -1), ["", "aa", ""]);
  assert.deepEqual(compiled.pattern.findAll("baac", 1), [""]);
});

test("patterns that cause backtracking elsewhere take linear time", () => {
  const compiled = compilePattern("^(a+)+$");
  assert.ok("pattern" in compiled);
  assert.equal(compiled.pattern.test("a".repeat(100_000) + "b"), false);
});
