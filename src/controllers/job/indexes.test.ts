import assert from "node:assert/strict";
import { test } from "node:test";
import { IndexSet } from "./indexes.ts";

const setOf = (indexes: readonly number[]): IndexSet => {
  const set = new IndexSet();
  for (const index of indexes) set.add(index);
  return set;
};

const texts: [indexes: number[], text: string][] = [
  [[], ""],
  [[3], "3"],
  [[0, 1], "0,1"],
  [[0, 1, 2], "0-2"],
  [[1, 3, 4, 5, 7], "1,3-5,7"],
  [[7, 4, 1, 5, 3, 4], "1,3-5,7"],
];
for (const [indexes, text] of texts)
  test(`indexes ${indexes.join(" ") || "of nothing"} are formatted as "${text}" and parsed back`, () => {
    const set = setOf(indexes);
    assert.equal(String(set), text);
    assert.equal(set.size, new Set(indexes).size);
    const parsed = IndexSet.parse(text, 100);
    assert.equal(String(parsed), text);
    assert.equal(parsed.size, set.size);
  });

const parsed: [name: string, text: string, completions: number, expected: string][] = [
  ["indexes beyond the completions are dropped", "0-9", 3, "0-2"],
  ["a range that starts beyond the completions is dropped", "1,5-9", 5, "1"],
  ["overlapping and unordered ranges are joined", "4-8,0-2,3-5", 100, "0-8"],
  ["what is no index is dropped", "x,2,5-y,,7-6", 100, "2"],
];
for (const [name, text, completions, expected] of parsed)
  test(name, () => assert.equal(String(IndexSet.parse(text, completions)), expected));

test("the lowest missing indexes are returned first", () => {
  assert.deepEqual(setOf([2]).missing(5, 2, new Set([0])), [1, 3]);
  assert.deepEqual(setOf([0, 1]).missing(3, 10, new Set()), [2]);
  assert.deepEqual(setOf([0, 1, 2]).missing(2, 10, new Set()), []);
});

test("indexes in both sets are counted", () => {
  assert.equal(setOf([0, 1, 2, 5, 9]).countCommon(setOf([1, 2, 3, 9])), 3);
  assert.equal(setOf([]).countCommon(setOf([1])), 0);
});

test("a union has the indexes of both sets", () =>
  assert.equal(String(setOf([0, 4]).union(setOf([1, 2, 9]))), "0-2,4,9"));

test("billions of indexes take the work of their ranges", () => {
  const all = IndexSet.parse("0-999999998,1000000000-1999999999", 2_000_000_000);
  assert.equal(all.size, 1_999_999_999);
  assert.deepEqual(all.missing(2_000_000_000, 5, new Set()), [999_999_999]);
  const copy = all.copy();
  copy.add(999_999_999);
  assert.equal(String(copy), "0-1999999999");
  assert.equal(all.has(999_999_999), false);
});
