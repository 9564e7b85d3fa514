import assert from "node:assert/strict";
import { test } from "node:test";
import { dns1035Label, dnsLabel, dnsSubdomain, generatedName, pathSegment } from "./names.ts";

const rules = { dnsSubdomain, dnsLabel, dns1035Label, pathSegment };
type Rule = keyof typeof rules;

const long = (length: number): string => "a".repeat(length);
const cases: [name: string, fits: Rule[]][] = [
  ["a", ["dnsSubdomain", "dnsLabel", "dns1035Label", "pathSegment"]],
  ["a-1", ["dnsSubdomain", "dnsLabel", "dns1035Label", "pathSegment"]],
  ["1-a", ["dnsSubdomain", "dnsLabel", "pathSegment"]],
  ["a.b", ["dnsSubdomain", "pathSegment"]],
  ["a..b", ["pathSegment"]],
  [".a", ["pathSegment"]],
  ["a.", ["pathSegment"]],
  ["-a", ["pathSegment"]],
  ["a-", ["pathSegment"]],
  ["A", ["pathSegment"]],
  ["a_b", ["pathSegment"]],
  ["ä", ["pathSegment"]],
  ["a b", ["pathSegment"]],
  ["a\n", ["pathSegment"]],
  [".", []],
  ["..", []],
  ["a/b", []],
  ["a%2fb", []],
  [long(63), ["dnsSubdomain", "dnsLabel", "dns1035Label", "pathSegment"]],
  [long(64), ["dnsSubdomain", "pathSegment"]],
  [long(253), ["dnsSubdomain", "pathSegment"]],
  [long(254), ["pathSegment"]],
];
for (const [name, fits] of cases) {
  const shown = name.length > 20 ? `${name.length} letters` : JSON.stringify(name);
  test(`${shown} can be ${fits.join(", ") || "no name"}`, () => {
    const found = (Object.keys(rules) as Rule[]).filter((rule) => rules[rule](name).length === 0);
    assert.deepEqual(found, fits);
  });
}

test("a rule answers fast, however unlucky the name", () => {
  for (const rule of Object.values(rules)) assert.doesNotThrow(() => rule(`${"a-".repeat(100)}_`));
});

const starts: [prefix: string, fits: Rule[]][] = [
  ["a-", ["dnsSubdomain", "dnsLabel", "dns1035Label", "pathSegment"]],
  ["a_-", ["dnsSubdomain", "dnsLabel", "dns1035Label", "pathSegment"]],
  ["-", ["pathSegment"]],
  ["A-", ["dnsSubdomain", "dnsLabel", "dns1035Label", "pathSegment"]],
  ["Ab-", ["pathSegment"]],
  ["..", ["pathSegment"]],
];
for (const [prefix, fits] of starts) {
  test(`${JSON.stringify(prefix)} can begin ${fits.join(", ")}`, () => {
    assert.deepEqual(
      (Object.keys(rules) as Rule[]).filter((rule) => rules[rule](prefix, true).length === 0),
      fits,
    );
  });
}

test("each thing wrong with a name is said", () => {
  assert.equal(dnsSubdomain("A".repeat(254)).length, 2);
  assert.equal(pathSegment("a/%").length, 2);
});

const prefixes: [name: string, prefix: string, start: string][] = [
  ["a prefix stays", "web-", "web-"],
  ["a long prefix is cut so that the name fits", long(100), long(58)],
  ["no prefix is a name of five characters", "", ""],
];
for (const [name, prefix, start] of prefixes) {
  test(`made names: ${name}`, () => {
    const made = generatedName(prefix);
    assert.match(made, /[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.equal(made.slice(0, -5), start);
  });
}

test("made names use every letter and hardly ever repeat", () => {
  const names = Array.from({ length: 5000 }, () => generatedName(""));
  assert.ok(new Set(names).size > 4990);
  assert.equal(new Set(names.join("")).size, 27);
});
