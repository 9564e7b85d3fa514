import { test } from "node:test";
import assert from "node:assert/strict";
import {
  canonicalDuration,
  durationMillis,
  durationOfMillis,
  formatDuration,
  isPercent,
  parseDuration,
} from "#base";
import fc from "fast-check";

const cases: [from: string, to: string][] = [
  ["0", "0s"], ["1h", "1h0m0s"], ["90s", "1m30s"], ["1.5h", "1h30m0s"], ["-1m", "-1m0s"], ["250ms", "250ms"], ["1500ms", "1.5s"], [".5s", "500ms"],
  ["1us", "1µs"], ["1500ns", "1.5µs"], ["1h2m3.004s", "1h2m3.004s"], ["+5s", "5s"], ["2562047h47m16.854775807s", "2562047h47m16.854775807s"],
]; // prettier-ignore
for (const [from, to] of cases)
  test(`the duration ${from} prints as ${to}`, () => assert.equal(canonicalDuration(from), to));

const wrong: [text: string, message: string][] = [
  ["", 'time: invalid duration ""'], ["1", 'time: missing unit in duration "1"'], ["1d", 'time: unknown unit "d" in duration "1d"'], ["s", 'time: invalid duration "s"'],
  ["1h 1m", 'time: unknown unit "h " in duration "1h 1m"'], ["9999999h", 'time: invalid duration "9999999h"'], ["1constructor", 'time: unknown unit "constructor" in duration "1constructor"'],
]; // prettier-ignore
for (const [text, message] of wrong)
  test(`"${text}" is no duration`, () => assert.throws(() => parseDuration(text), { message }));

test("durations survive printing and reading", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (nanoseconds) =>
      assert.equal(parseDuration(formatDuration(nanoseconds)), nanoseconds),
    ),
  );
});

test("durations convert to and from milliseconds", () => {
  assert.equal(durationMillis("1.5s"), 1500);
  assert.equal(durationOfMillis(90_000), "1m30s");
});

// prettier-ignore
const percents: [value: number | string, is: boolean][] = [["4%", true], ["0%", true], ["4", false], [4, false], ["-4%", false], ["4%%", false]];
for (const [value, is] of percents)
  test(`${JSON.stringify(value)} ${is ? "is a" : "is no"} percentage`, () =>
    assert.equal(isPercent(value), is));
