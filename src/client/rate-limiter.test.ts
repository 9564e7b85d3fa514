import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { rateLimiter, tokenBucket } from "./rate-limiter.ts";

const hour = 3_600_000;

test("a clock that is set back delays no requests", async () => {
  const clock = virtualClock(10 * hour);
  const [take, isAllowed] = [rateLimiter(clock, 10, 1), tokenBucket(clock, 10, 1)];
  await take(new AbortController().signal);
  assert.equal(isAllowed(), true);
  clock.set(9 * hour);
  let isTaken = false;
  const taken = take(new AbortController().signal).then(() => (isTaken = true));
  await clock.advance(100);
  assert.deepEqual([isTaken, isAllowed()], [true, true]);
  await taken;
});
