import assert from "node:assert/strict";
import { test } from "node:test";
import { formatIndexes, parseIndexes, pendingIndexes } from "./indexes.ts";

const texts: [indexes: number[], text: string][] = [
  [[], ""],
  [[3], "3"],
  [[0, 1], "0,1"],
  [[0, 1, 2], "0-2"],
  [[1, 3, 4, 5, 7], "1,3-5,7"],
];
for (const [indexes, text] of texts)
  test(`indexes ${indexes.join(" ") || "of nothing"} are formatted as "${text}" and parsed back`, () => {
    assert.equal(formatIndexes(new Set(indexes)), text);
    assert.deepEqual([...parseIndexes(text, 100)], indexes);
  });

test("indexes beyond the completions are dropped", () =>
  assert.deepEqual([...parseIndexes("0-9", 3)], [0, 1, 2]));
test("the lowest free indexes are returned first", () =>
  assert.deepEqual(pendingIndexes(new Set([0]), new Set([2]), 2, 5), [1, 3]));
