import assert from "node:assert/strict";
import { test } from "node:test";
import { RevisionNumbers } from "./revision-numbers.ts";

test("the numbers of a revision are taken once, in whatever order revisions were added", () => {
  const numbers = new RevisionNumbers();
  for (const revision of [5, 3, 9, 5]) numbers.add(revision, revision * 10);
  numbers.add(9, 91);
  assert.deepEqual(numbers.take(9), [90, 91]);
  assert.deepEqual(numbers.take(9), []);
  assert.deepEqual([numbers.take(3), numbers.take(5), numbers.take(4)], [[30], [50, 50], []]);
});

test("remaining numbers are found after many were removed", () => {
  const numbers = new RevisionNumbers();
  for (let revision = 1; revision <= 2000; revision++) numbers.add(revision, revision);
  for (let revision = 1; revision <= 1990; revision++) assert.deepEqual(numbers.take(revision), [revision]);
  numbers.add(2001, 7);
  assert.deepEqual([numbers.take(1995), numbers.take(2001), numbers.take(1)], [[1995], [7], []]);
});
