import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { Deadlines } from "./deadlines.ts";

function kit(): {
  clock: ReturnType<typeof virtualClock>;
  deadlines: Deadlines;
  /** Writes a key, optionally with its expiry time. */
  set: (key: string, revision: number, at?: number) => void;
  expired: string[];
  batches: number[];
  fail: (times: number) => void;
} {
  const clock = virtualClock(1000);
  const expired: string[] = [];
  const batches: number[] = [];
  let failures = 0;
  const written = new Map<string, number>();
  const deadlines = new Deadlines({
    clock,
    isCurrent: (key, revision) => written.get(key) === revision,
    expire: async (due) => {
      if (failures-- > 0) throw new Error("no space");
      batches.push(due.length);
      for (const { key, revision } of due) {
        expired.push(`${key}@${revision}`);
        written.delete(key);
      }
    },
  });
  const set = (key: string, revision: number, at?: number): void => {
    written.set(key, revision);
    if (at !== undefined) deadlines.add(key, revision, at);
  };
  return { clock, deadlines, set, expired, batches, fail: (times) => (failures = times) };
}

test("keys expire in order of their deadlines, in whatever order they were set", async () => {
  const { clock, set, expired } = kit();
  for (const [i, at] of [5, 3, 9, 1, 7, 2, 8].entries()) set(`k${at}`, i, 1000 + at * 10);
  await clock.advance(65);
  assert.deepEqual(expired, ["k1@3", "k2@5", "k3@1", "k5@0"]);
  await clock.advance(100);
  assert.deepEqual(expired.slice(4), ["k7@4", "k8@6", "k9@2"]);
});

test("keys due within a short time expire together, the first one on time", async () => {
  const { clock, set, batches } = kit();
  for (let i = 0; i < 100; i++) set(`k${i}`, i, 1100 + i);
  await clock.advance(100);
  assert.deepEqual(batches, [1]);
  await clock.advance(200);
  assert.deepEqual(batches, [1, 25, 25, 25, 24]);
});

test("keys written after the clock was set back expire on time", async () => {
  const { clock, set, expired } = kit();
  set("before", 1, 1010);
  await clock.advance(20);
  clock.set(0);
  set("after", 2, 100);
  await clock.advance(100);
  assert.deepEqual(expired, ["before@1", "after@2"]);
});

test("only the newest deadline of a key counts, and none if it was removed", async () => {
  const { clock, deadlines, set, expired } = kit();
  for (let revision = 0; revision < 500; revision++) set("renewed", revision, 1000 + revision);
  set("freed", 1, 1010);
  set("freed", 2);
  await clock.advance(498);
  assert.deepEqual(expired, []);
  await clock.advance(2);
  assert.deepEqual(expired, ["renewed@499"]);
  assert.deepEqual(deadlines.entries(), []);
});

test("a failed expiry is retried, and nothing expires after closing", async () => {
  const { clock, deadlines, set, expired, fail } = kit();
  fail(2);
  set("a", 1, 1010);
  await clock.advance(50);
  assert.deepEqual(expired, []);
  await clock.advance(1000);
  assert.deepEqual(expired, []);
  await clock.advance(1000);
  assert.deepEqual(expired, ["a@1"]);
  set("b", 2, clock.now() + 10);
  deadlines.close();
  await clock.advance(5000);
  assert.deepEqual(expired, ["a@1"]);
});

test("a deadline years away is waited for in steps a timer supports", async () => {
  const { clock, set, expired } = kit();
  const year = 31_536_000_000;
  set("far", 1, 1000 + year);
  await clock.advance(year - 1);
  assert.deepEqual(expired, []);
  await clock.advance(1);
  assert.deepEqual(expired, ["far@1"]);
});

test("restored keys expire once started, the earliest first", async () => {
  const { clock, deadlines, set, expired } = kit();
  const times = Array.from({ length: 3000 }, (_, i) => 1001 + ((i * 7919) % 3000));
  for (const [i, at] of times.entries()) {
    set(`k${at}`, i);
    deadlines.restore(`k${at}`, i, at);
  }
  await clock.advance(100);
  assert.deepEqual(expired, []);
  deadlines.start();
  await clock.advance(4000);
  assert.equal(expired.length, 3000);
  assert.deepEqual(
    expired.map((one) => Number(/^k(\d+)@/.exec(one)![1])),
    [...times].sort((a, b) => a - b),
  );
});

test("keys renewed repeatedly do not fill the heap", async () => {
  const { clock, deadlines, set, expired } = kit();
  for (let revision = 0; revision < 5000; revision++) set(`k${revision % 10}`, revision, 2000 + revision);
  assert.equal(deadlines.entries().length, 10);
  await clock.advance(10_000);
  assert.deepEqual(
    expired,
    Array.from({ length: 10 }, (_, i) => `k${i}@${4990 + i}`),
  );
});
