import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { Deadlines } from "./deadlines.ts";

function kit(): {
  clock: ReturnType<typeof virtualClock>;
  deadlines: Deadlines;
  expired: string[];
  fail: (times: number) => void;
} {
  const clock = virtualClock(1000);
  const expired: string[] = [];
  let failures = 0;
  const deadlines = new Deadlines(clock, async (due) => {
    if (failures-- > 0) throw new Error("no space");
    expired.push(...due.map((one) => `${one.key}@${one.revision}`));
  });
  return { clock, deadlines, expired, fail: (times) => (failures = times) };
}

test("keys expire in the order of their times, however they were set", async () => {
  const { clock, deadlines, expired } = kit();
  for (const [i, at] of [5, 3, 9, 1, 7, 2, 8].entries()) deadlines.set(`k${at}`, i, 1000 + at * 10);
  await clock.advance(55);
  assert.deepEqual(expired, ["k1@3", "k2@5", "k3@1", "k5@0"]);
  await clock.advance(100);
  assert.deepEqual(expired.slice(4), ["k7@4", "k8@6", "k9@2"]);
});

test("only the newest time of a key counts, and none when it was taken away", async () => {
  const { clock, deadlines, expired } = kit();
  for (let revision = 0; revision < 500; revision++) deadlines.set("renewed", revision, 1000 + revision);
  deadlines.set("freed", 1, 1010);
  deadlines.set("freed", 2, undefined);
  await clock.advance(498);
  assert.deepEqual(expired, []);
  await clock.advance(2);
  assert.deepEqual(expired, ["renewed@499"]);
  assert.deepEqual(deadlines.entries(), []);
});

test("what could not be expired is tried again, and nothing after closing", async () => {
  const { clock, deadlines, expired, fail } = kit();
  fail(2);
  deadlines.set("a", 1, 1010);
  await clock.advance(50);
  assert.deepEqual(expired, []);
  await clock.advance(1000);
  assert.deepEqual(expired, []);
  await clock.advance(1000);
  assert.deepEqual(expired, ["a@1"]);
  deadlines.set("b", 2, clock.now() + 10);
  deadlines.close();
  await clock.advance(5000);
  assert.deepEqual(expired, ["a@1"]);
});

test("a time years away is waited for in pieces a timer can hold", async () => {
  const { clock, deadlines, expired } = kit();
  const year = 31_536_000_000;
  deadlines.set("far", 1, 1000 + year);
  await clock.advance(year - 1);
  assert.deepEqual(expired, []);
  await clock.advance(1);
  assert.deepEqual(expired, ["far@1"]);
});
