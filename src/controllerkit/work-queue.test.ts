import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, virtualClock } from "#base";
import { workQueue } from "./work-queue.ts";

function setUp(work: (key: string) => Promise<{ againInMilliseconds: number } | void>, workers = 1) {
  const clock = virtualClock();
  const stopping = new AbortController();
  const troubles: string[] = [];
  const queue = workQueue({
    work,
    clock,
    signal: stopping.signal,
    workers,
    onFailure: (key, error) => troubles.push(`${key}: ${error.message}`),
  });
  return { clock, queue, troubles, stop: () => stopping.abort() };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a key that comes twice is looked at once, and again when it came during the look", async () => {
  const looks: string[] = [];
  const gates: (() => void)[] = [];
  const { queue } = setUp(async (key) => {
    looks.push(key);
    await new Promise<void>((resolve) => gates.push(resolve));
  });
  for (const key of ["a", "b", "b"]) queue.add(key);
  assert.deepEqual(looks, ["a"]);
  queue.add("a");
  for (let at = 0; at < 3; at++) {
    gates[at]!();
    await settled();
  }
  assert.deepEqual(looks, ["a", "b", "a"]);
  assert.equal(queue.waiting, 0);
});

test("no more keys are looked at together than there are workers", async () => {
  let together = 0;
  let most = 0;
  const { queue } = setUp(async () => {
    most = Math.max(most, ++together);
    await settled();
    together--;
  }, 2);
  for (let key = 0; key < 10; key++) queue.add(String(key));
  while (queue.waiting > 0 || together > 0) await settled();
  assert.equal(most, 2);
});

test("what fails is tried again, each time later, and forgotten once it succeeds", async () => {
  const at: number[] = [];
  let failures = 3;
  const { queue, clock, troubles } = setUp(async () => {
    at.push(clock.now());
    if (failures-- > 0) throw new Error("no");
  });
  queue.add("a");
  await settled();
  await clock.advance(10_000);
  assert.deepEqual(at, [0, 5, 15, 35]);
  assert.deepEqual(troubles, ["a: no", "a: no", "a: no"]);
});

test("a lost race is no trouble, and a server that asks for time gets it", async () => {
  const at: number[] = [];
  const errors = [
    new ApiError(409, "Conflict", "changed"),
    new ApiError(429, "TooManyRequests", "wait", { retryAfterSeconds: 5 }),
  ];
  const { queue, clock, troubles } = setUp(async () => {
    at.push(clock.now());
    const error = errors.shift();
    if (error) throw error;
  });
  queue.add("a");
  await settled();
  await clock.advance(10_000);
  assert.deepEqual(at, [0, 5, 5005]);
  assert.deepEqual(troubles, ["a: wait"]);
});

test("the soonest of several times wins, and one that comes at once cancels none", async () => {
  const at: number[] = [];
  const { queue, clock } = setUp(async () => void at.push(clock.now()));
  queue.addAfter("a", 500);
  queue.addAfter("a", 200);
  queue.addAfter("a", 900);
  await clock.advance(1000);
  queue.addAfter("a", 500);
  queue.add("a");
  await clock.advance(1000);
  assert.deepEqual(at, [200, 1000, 1500]);
});

test("a look may ask for the next one", async () => {
  const at: number[] = [];
  const { queue, clock } = setUp(async () => {
    at.push(clock.now());
    return { againInMilliseconds: 400 };
  });
  queue.add("a");
  await settled();
  await clock.advance(1000);
  assert.deepEqual(at, [0, 400, 800]);
});

test("after the signal nothing begins, and it has stopped when the last look is over", async () => {
  const looks: string[] = [];
  let finish = (): void => undefined;
  const { queue, stop } = setUp(async (key) => {
    looks.push(key);
    await new Promise<void>((resolve) => (finish = resolve));
  });
  for (const key of ["a", "b"]) queue.add(key);
  stop();
  let stopped = false;
  const stopping = queue.stopped.then(() => (stopped = true));
  await settled();
  assert.equal(stopped, false);
  finish();
  await stopping;
  queue.add("c");
  assert.deepEqual(looks, ["a"]);
});
