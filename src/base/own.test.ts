import assert from "node:assert/strict";
import { test } from "node:test";
import { own } from "./own.ts";

const table: Record<string, number> = { a: 1 };
const cases: [key: string, found: number | undefined][] = [
  ["a", 1],
  ["b", undefined],
  ["__proto__", undefined],
  ["constructor", undefined],
  ["toString", undefined],
];
for (const [key, found] of cases)
  test(`a table's own entry under "${key}" is ${found}`, () => assert.equal(own(table, key), found));
