import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuery } from "./query.ts";

const cases: [name: string, search: string, values: Record<string, string[]>][] = [
  ["an empty query has no parameters", "", {}],
  ["separators alone have no parameters", "&&", {}],
  ["a name and a value", "limit=5", { limit: ["5"] }],
  ["a name alone has an empty value", "watch", { watch: [""] }],
  ["an equals sign alone has an empty value", "watch=", { watch: [""] }],
  ["a value may contain equals signs", "fieldSelector=a=b,c==d", { fieldSelector: ["a=b,c==d"] }],
  ["repeated names keep their order", "dryRun=All&x=1&dryRun=None", { dryRun: ["All", "None"], x: ["1"] }],
  ["escapes and plus signs are decoded", "label%53elector=a%3Db+c%2Bd", { labelSelector: ["a=b c+d"] }],
  ["letters of every script", "name=%E4%BD%A0", { name: ["你"] }],
  ["parameters with an invalid escape are ignored", "name=%zz&n%me=1&other=1&last=a%", { other: ["1"] }],
  ["parameters with a semicolon are ignored", "limit=1;x&a;b&other=1%3B2", { other: ["1;2"] }],
  ["bytes that are not valid UTF-8", "name=a%E4%BDb+%C3%A9", { name: ["a\ufffdb é"] }],
  [
    "a name of an inherited object property is an ordinary name",
    "__proto__=1&constructor=2",
    { ["__proto__"]: ["1"], constructor: ["2"] },
  ],
  ["an empty name is valid", "=1", { "": ["1"] }],
];
for (const [name, search, values] of cases) {
  test(`a query: ${name}`, () => {
    const query = parseQuery(search);
    assert.deepEqual(Object.fromEntries([...query.names()].map((key) => [key, query.all(key)])), values);
    for (const [key, all] of Object.entries(values)) {
      assert.equal(query.get(key), all[0]);
      assert.equal(query.has(key), true);
    }
  });
}

test("a missing parameter is undefined, not empty", () => {
  for (const query of [parseQuery(""), parseQuery("a=1")]) {
    assert.equal(query.get("b"), undefined);
    assert.deepEqual(query.all("b"), []);
    assert.equal(query.has("b"), false);
    assert.equal(query.has("toString"), false);
  }
});
