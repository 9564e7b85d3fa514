import assert from "node:assert/strict";
import { test } from "node:test";
import { repeats } from "./repeats.ts";

const cases: [
  name: string,
  items: unknown[],
  identityOf: ((item: unknown) => unknown) | undefined,
  found: boolean[],
][] = [
  ["an empty list has no repetition", [], undefined, []],
  ["the first occurrence is no repetition", ["a", "b", "a", "a"], undefined, [false, false, true, true]],
  [
    "items are compared by their identity",
    [{ n: 1 }, { n: 2 }, { n: 1 }],
    JSON.stringify,
    [false, false, true],
  ],
];
for (const [name, items, identityOf, found] of cases)
  test(name, () => assert.deepEqual(items.map(repeats(identityOf)), found));
