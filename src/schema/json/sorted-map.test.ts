import assert from "node:assert/strict";
import { test } from "node:test";
import { apiPackage, map, optional, string } from "../shape.ts";
import { canonical, decodeJson, encodeJson } from "./codec.ts";
import { sortedMap } from "./sorted-map.ts";

const { message } = apiPackage({ package: "test" });
const Labelled = message("Labelled", "Has labels.", {
  labels: optional(1, map(string), "Labels."),
  nested: optional(2, map(map(string)), "Maps of maps."),
});

test("a sorted map is returned unchanged", () => {
  for (const given of [{}, { a: 1 }, { a: 1, b: 2 }, { 9: 1, 10: 2, a: 3 }, { "a.b/c": 1, "a.b/d": 2 }])
    assert.equal(sortedMap(given), given);
});
test("an unsorted map is sorted", () =>
  assert.deepEqual(Object.keys(sortedMap({ c: 1, a: 2, b: 3 })), ["a", "b", "c"]));
test("`__proto__` stays a key", () => {
  const given = JSON.parse('{"z":1,"__proto__":2}') as object;
  assert.deepEqual(Object.entries(sortedMap(given)), [
    ["__proto__", 2],
    ["z", 1],
  ]);
});
test("objects that differ only in the order of their labels have the same encoding", () => {
  const one = decodeJson(
    Labelled,
    '{"labels":{"b":"2","a":"1"},"nested":{"y":{"d":"1","c":"1"},"x":{}}}',
  ).value;
  const two = decodeJson(
    Labelled,
    '{"nested":{"x":{},"y":{"c":"1","d":"1"}},"labels":{"a":"1","b":"2"}}',
  ).value;
  assert.equal(encodeJson(Labelled, one), encodeJson(Labelled, two));
  assert.equal(canonical(Labelled, one), one);
  assert.equal(encodeJson(Labelled, { labels: { b: "2", a: "1" } }), '{"labels":{"a":"1","b":"2"}}');
});
