import assert from "node:assert/strict";
import { test } from "node:test";
import { deepCopy } from "./deep-copy.ts";

const cases: [name: string, value: unknown][] = [
  ["strings, numbers, booleans and null", ["a", 1, 9007199254740993n, true, null, undefined]],
  ["objects in lists in objects", { a: [{ b: [[]] }, {}] }],
  ["keys that objects inherit", JSON.parse('{"__proto__":{"x":1},"constructor":"c","toString":{}}')],
];
for (const [name, value] of cases) {
  test(`a copy of ${name} is equal and shares nothing`, () => {
    const copy = deepCopy(value);
    assert.deepEqual(copy, value);
    assert.deepEqual(sharing(copy, value), []);
  });
}

test("a copy keeps the default prototype", () => {
  const copy = deepCopy(JSON.parse('{"__proto__":{"evil":1}}') as Record<string, unknown>);
  assert.equal(copy["evil"], undefined);
  assert.deepEqual(Object.keys(copy), ["__proto__"]);
});

/** Returns the objects that both values contain at the same place. */
function sharing(a: unknown, b: unknown): unknown[] {
  if (typeof a !== "object" || a === null) return [];
  if (a === b) return [a];
  return Object.entries(a).flatMap(([key, value]) =>
    sharing(value, Object.getOwnPropertyDescriptor(b, key)?.value),
  );
}
