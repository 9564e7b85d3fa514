import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import type { SeenPod } from "./node-info.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";

const pod = (name: string, priority = 0): SeenPod =>
  ({ metadata: { name, uid: name }, spec: { priority }, status: {} }) as unknown as SeenPod;
function setUp() {
  const clock = virtualClock(0);
  const stopping = new AbortController();
  const queue = new SchedulingQueue({
    clock,
    signal: stopping.signal,
    pluginsHelpedBy: (event) => new Set(event === "node added" ? ["Fit"] : []),
  });
  return { clock, queue, stopping };
}

test("the pod of higher priority is taken first, then the older one", async () => {
  const { queue } = setUp();
  for (const each of [pod("a"), pod("b", 5), pod("c")]) queue.add(each);
  const order = [await queue.take(), await queue.take(), await queue.take()];
  assert.deepEqual(
    order.map(({ pod: each }) => each.metadata.name),
    ["b", "a", "c"],
  );
});

test("an unschedulable pod waits for a relevant event and for its backoff", async () => {
  const { queue, clock } = setUp();
  queue.add(pod("a"));
  queue.putBack(await queue.take(), new Set(["Fit"]));
  queue.onEvent("volume");
  assert.equal(queue.sizes.unschedulable, 1);
  queue.onEvent("node added");
  assert.deepEqual(queue.sizes, { active: 0, backoff: 1, unschedulable: 0 });
  await clock.advance(1000);
  assert.equal(queue.sizes.active, 1);
});

test("events during an attempt count", async () => {
  const { queue } = setUp();
  queue.add(pod("a"));
  const entry = await queue.take();
  queue.onEvent("node added");
  queue.putBack(entry, new Set(["Fit"]));
  assert.equal(queue.sizes.unschedulable, 0);
});

test("an unschedulable pod is retried after five minutes without events", async () => {
  const { queue, clock } = setUp();
  queue.add(pod("a"));
  queue.putBack(await queue.take(), new Set(["Fit"]));
  await clock.advance(5 * 60_000 + 31_000);
  assert.equal(queue.sizes.active, 1);
});

test("waiting ends when the signal aborts", async () => {
  const { queue, stopping } = setUp();
  const taken = queue.take();
  stopping.abort();
  await assert.rejects(taken);
});

test("of pods whose backoffs end together, the more important one is taken first", async () => {
  const { queue, clock } = setUp();
  for (const each of [pod("low"), pod("high", 5)]) queue.add(each);
  const entries = [await queue.take(), await queue.take()].toReversed();
  for (const entry of entries) queue.retry(entry);
  const next = queue.take();
  await clock.advance(1000);
  assert.equal((await next).pod.metadata.name, "high");
});

test("an event does not wake a pod that it rules out", async () => {
  const { queue } = setUp();
  for (const each of [pod("a"), pod("b")]) queue.add(each);
  for (const entry of [await queue.take(), await queue.take()]) queue.putBack(entry, new Set(["Fit"]));
  queue.onEvent("node added", ({ metadata }) => metadata.name === "b");
  assert.deepEqual(queue.sizes, { active: 0, backoff: 1, unschedulable: 1 });
});

test("a pod that changed during its attempt is not queued twice", async () => {
  const { queue } = setUp();
  queue.add(pod("a"));
  const entry = await queue.take();
  queue.update(pod("a"), false);
  queue.putBack(entry, new Set(["Fit"]));
  assert.deepEqual(queue.sizes, { active: 1, backoff: 0, unschedulable: 0 });
});

test("a clock that is set back delays no pod", async () => {
  const { queue, clock } = setUp();
  await clock.advance(10_000_000);
  queue.add(pod("a"));
  queue.putBack(await queue.take(), new Set(["Fit"]));
  clock.set(1000);
  queue.onEvent("node added");
  await clock.advance(2000);
  assert.equal(queue.sizes.active, 1);
});
