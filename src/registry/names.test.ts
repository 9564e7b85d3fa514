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
  test(`${shown} is valid for ${fits.join(", ") || "no rule"}`, () => {
    const found = (Object.keys(rules) as Rule[]).filter((rule) => rules[rule](name).length === 0);
    assert.deepEqual(found, fits);
  });
}

test("name rules run in linear time", () => {
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
  test(`${JSON.stringify(prefix)} is a valid prefix for ${fits.join(", ")}`, () => {
    assert.deepEqual(
      (Object.keys(rules) as Rule[]).filter((rule) => rules[rule](prefix, true).length === 0),
      fits,
    );
  });
}

test("each problem of a name is reported", () => {
  assert.equal(dnsSubdomain("A".repeat(254)).length, 2);
  assert.equal(pathSegment("a/%").length, 2);
});

const prefixes: [name: string, prefix: string, start: string][] = [
  ["the prefix is kept", "web-", "web-"],
  ["a long prefix is truncated", long(100), long(58)],
  ["without a prefix the name has five characters", "", ""],
];
for (const [name, prefix, start] of prefixes) {
  test(`generated names: ${name}`, () => {
    const made = generatedName(prefix);
    assert.match(made, /[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.equal(made.slice(0, -5), start);
  });
}

test("generated names use the whole alphabet and rarely repeat", () => {
  const names = Array.from({ length: 5000 }, () => generatedName(""));
  assert.ok(new Set(names).size > 4990);
  assert.equal(new Set(names.join("")).size, 27);
});
