import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, virtualClock } from "#base";
import { workQueue } from "./work-queue.ts";

function setUp(work: (key: string) => Promise<{ requeueAfterMilliseconds: number } | void>, workers = 1) {
  const clock = virtualClock();
  const stopping = new AbortController();
  const failures: string[] = [];
  const queue = workQueue({
    work,
    clock,
    signal: stopping.signal,
    workers,
    onFailure: (key, error) => failures.push(`${key}: ${error.message}`),
  });
  return { clock, queue, problems: failures, stop: () => stopping.abort() };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a key added twice is processed once, and again if added during processing", async () => {
  const processed: string[] = [];
  const gates: (() => void)[] = [];
  const { queue } = setUp(async (key) => {
    processed.push(key);
    await new Promise<void>((resolve) => gates.push(resolve));
  });
  for (const key of ["a", "b", "b"]) queue.add(key);
  assert.deepEqual(processed, ["a"]);
  queue.add("a");
  for (let at = 0; at < 3; at++) {
    gates[at]!();
    await settled();
  }
  assert.deepEqual(processed, ["a", "b", "a"]);
  assert.equal(queue.waiting, 0);
});

test("no more keys are processed concurrently than there are workers", async () => {
  let active = 0;
  let maxActive = 0;
  const { queue } = setUp(async () => {
    maxActive = Math.max(maxActive, ++active);
    await settled();
    active--;
  }, 2);
  for (let key = 0; key < 10; key++) queue.add(String(key));
  while (queue.waiting > 0 || active > 0) await settled();
  assert.equal(maxActive, 2);
});

test("failures are retried with increasing delays until one succeeds", async () => {
  const at: number[] = [];
  let failures = 3;
  const { queue, clock, problems } = setUp(async () => {
    at.push(clock.now());
    if (failures-- > 0) throw new Error("no");
  });
  queue.add("a");
  await settled();
  await clock.advance(10_000);
  assert.deepEqual(at, [0, 5, 15, 35]);
  assert.deepEqual(problems, ["a: no", "a: no", "a: no"]);
});

test("a conflict is not reported, and a server's Retry-After is honoured", async () => {
  const at: number[] = [];
  const errors = [
    new ApiError(409, "Conflict", "changed"),
    new ApiError(429, "TooManyRequests", "wait", { retryAfterSeconds: 5 }),
  ];
  const { queue, clock, problems } = setUp(async () => {
    at.push(clock.now());
    const error = errors.shift();
    if (error) throw error;
  });
  queue.add("a");
  await settled();
  await clock.advance(10_000);
  assert.deepEqual(at, [0, 5, 5005]);
  assert.deepEqual(problems, ["a: wait"]);
});

test("the earliest of several delays wins, and an immediate add cancels none", async () => {
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

test("processing may requeue its key after a delay", async () => {
  const at: number[] = [];
  const { queue, clock } = setUp(async () => {
    at.push(clock.now());
    return { requeueAfterMilliseconds: 400 };
  });
  queue.add("a");
  await settled();
  await clock.advance(1000);
  assert.deepEqual(at, [0, 400, 800]);
});

test("nothing starts after the signal, and the queue stops when the last key is processed", async () => {
  const processed: string[] = [];
  let finish = (): void => undefined;
  const { queue, stop } = setUp(async (key) => {
    processed.push(key);
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
  assert.deepEqual(processed, ["a"]);
});
