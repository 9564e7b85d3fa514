import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { eventOf, keepingBackend } from "./audit.fixture.ts";
import { type BatchOptions, batching } from "./batch.ts";

function harness(given: Partial<BatchOptions> = {}) {
  const clock = virtualClock();
  const inner = keepingBackend();
  const lost: number[] = [];
  const backend = batching(inner, {
    bufferSize: 10,
    maxBatchSize: 3,
    maxWaitMilliseconds: 1000,
    concurrent: true,
    clock,
    lost: (count) => lost.push(count),
    ...given,
  });
  const take = (...ids: string[]): void => {
    for (const auditId of ids) void backend.process([eventOf({ auditId })]);
  };
  return { clock, inner, lost, backend, take };
}

test("a full batch is sent at once, the rest after the wait", async () => {
  const { clock, inner, take } = harness();
  take("a", "b", "c", "d");
  await clock.advance(0);
  assert.deepEqual(inner.batches, [["a", "b", "c"]]);
  await clock.advance(999);
  assert.equal(inner.batches.length, 1);
  await clock.advance(1);
  assert.deepEqual(inner.batches[1], ["d"]);
});

test("a full buffer drops events and counts them", async () => {
  const { clock, inner, lost, take } = harness({ bufferSize: 2, maxBatchSize: 2, concurrent: false });
  let release = (): void => undefined;
  inner.process = () => new Promise((resolve) => (release = resolve));
  take("a", "b");
  await clock.advance(0);
  take("c", "d", "e");
  assert.deepEqual(lost, [1]);
  release();
});

test("a full buffer is sent even if a batch could hold more", async () => {
  const { clock, inner, lost, take } = harness({ bufferSize: 2, maxBatchSize: 5 });
  take("a", "b");
  await clock.advance(0);
  take("c");
  assert.deepEqual([inner.batches, lost], [[["a", "b"]], []]);
});

test("batches beyond the burst are throttled", async () => {
  const { clock, inner, take } = harness({ maxBatchSize: 1, throttle: { perSecond: 1, burst: 2 } });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  take("a", "b", "c");
  await settled();
  assert.deepEqual(inner.batches, [["a"], ["b"]]);
  await clock.advance(1000);
  await settled();
  assert.deepEqual(inner.batches[2], ["c"]);
});

test("close delivers the buffered events without throttling, and then accepts none", async () => {
  const { inner, lost, backend, take } = harness({
    maxBatchSize: 2,
    throttle: { perSecond: 0.001, burst: 1 },
  });
  take("a", "b", "c", "d", "e");
  await backend.close();
  assert.deepEqual(inner.batches.flat(), ["a", "b", "c", "d", "e"]);
  assert.equal(inner.closed, true);
  take("f");
  assert.deepEqual(lost, [1]);
});

test("a batch that cannot be delivered is counted as lost", async () => {
  const { clock, inner, lost, take } = harness();
  inner.failure = new Error("down");
  take("a", "b", "c");
  await clock.advance(0);
  assert.deepEqual(lost, [3]);
});

test("the throttle of batches is not affected by a clock that is set back", async () => {
  const { clock, inner, take } = harness({ maxBatchSize: 1, throttle: { perSecond: 1, burst: 1 } });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  take("a", "b");
  await settled();
  clock.set(clock.now() - 3_600_000);
  await clock.advance(1000);
  await settled();
  assert.deepEqual(inner.batches, [["a"], ["b"]]);
});
