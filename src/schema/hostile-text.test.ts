// Texts made to be expensive: cost must grow no faster than length. The limits are far above what a busy
// machine needs and far below what quadratic parsing takes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { processorMilliseconds } from "#kit";
import { decodeJson } from "./json/codec.ts";
import { parseJson } from "./json/parse.ts";
import { apiPackage, map, optional, string } from "./shape.ts";
import { compareNaturally } from "./yaml/natural-order.ts";
import { parseYaml } from "./yaml/parse.ts";
import { printYaml } from "./yaml/print.ts";

const limitMillis = 5000;
async function isQuick(work: () => unknown): Promise<void> {
  const taken = await processorMilliseconds(work);
  assert.ok(taken < limitMillis, `took ${taken} ms of processor time`);
}

const duplicates = Array.from({ length: 4000 }, (_, i) => `"k${i}":1,"k${i}":2`).join(",");
const longKeyAbove = `{"${"x".repeat(2_000_000)}":{${duplicates}}}`;

const readings: [name: string, read: () => unknown][] = [
  ["JSON with a long key above many duplicates", () => parseJson(longKeyAbove)],
  ["the same parsed as YAML", () => parseYaml(longKeyAbove)],
  [
    "the same decoded as a declared kind",
    () => {
      const Labelled = apiPackage({ package: "api.test.v1" }).message("Labelled", "", {
        labels: optional(1, map(map(string)), "Labels."),
      });
      return decodeJson(Labelled, `{"labels":${longKeyAbove.replaceAll(/:(\d)/g, ':"$1"')}}`);
    },
  ],
  ["YAML that sets one key 40,000 times", () => parseYaml("a: 1\n".repeat(40_000))],
  [
    "printing keys of 600,000 digits",
    () => printYaml({ [`1${"2".repeat(600_000)}`]: 1, [`3${"4".repeat(600_000)}`]: 2, b: 3 }),
  ],
];
for (const [name, read] of readings)
  test(`${name} takes time proportional to its length`, () => isQuick(read));

test("reported duplicates are bounded in number and in length", () => {
  const many = parseJson(`{${duplicates}}`).duplicate;
  assert.deepEqual([many.length, many[0], many[99]], [100, "k0", "k99"]);
  assert.equal(parseJson(longKeyAbove).duplicate.length, 1);
});

test("a duplicate key is reported once, however often it occurs", () => {
  assert.deepEqual(parseJson(`{${'"a":1,'.repeat(20_000)}"b":1,"b":2}`).duplicate, ["a", "b"]);
});

test("the line of a duplicate is that of its key, not of nested keys", () => {
  assert.deepEqual(parseYaml("a: 1\n\n\na:\n  b: 1\n  b: 2\nc: 0\n").duplicate, [
    'line 6: key "b" already set in map',
    'line 4: key "a" already set in map',
  ]);
});

const orders: [left: string, right: string, order: number][] = [
  ["a2", "a10", -1],
  ["a9223372036854775807", "a9223372036854775806", 1],
  // Go's int64 wraps around: 2^63 is negative.
  ["a9223372036854775808", "a1", -1],
  // 10^64 wraps to zero, and an equal number with more digits comes later
  [`a1${"0".repeat(64)}`, "a2", -1],
];
for (const [left, right, order] of orders) {
  test(`${left.slice(0, 24)} is sorted ${order < 0 ? "before" : "after"} ${right}`, () => {
    assert.equal(Math.sign(compareNaturally(left, right)), order);
    assert.equal(Math.sign(compareNaturally(right, left)), -order);
  });
}
