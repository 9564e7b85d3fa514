import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { restartBackOff } from "./agent-context.ts";

const cases: [given: number | undefined, first: number, longest: number][] = [
  [undefined, 10_000, 300_000],
  [60_000, 10_000, 60_000],
  [2000, 2000, 2000],
];
for (const [given, first, longest] of cases)
  test(`with a longest pause of ${given ?? "no"} milliseconds restarts wait from ${first} to ${longest}`, () => {
    const { firstMilliseconds, longestMilliseconds } = restartBackOff(virtualClock(), given);
    assert.deepEqual([firstMilliseconds, longestMilliseconds], [first, longest]);
  });
