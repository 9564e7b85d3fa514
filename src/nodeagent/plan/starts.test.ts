import assert from "node:assert/strict";
import { test } from "node:test";
import { container, observed, samplePod } from "../pod.fixture.ts";
import { type StartFacts, startsNow } from "./starts.ts";

const pod = samplePod();
const wanted = [{ name: "c", image: "i", resources: {} }];
const now = 100_000;
const never: StartFacts = { backOff: { remaining: () => 0, delay: () => 0 }, errors: new Map(), now };
const waits = (milliseconds: number): StartFacts => ({
  ...never,
  backOff: { remaining: () => milliseconds, delay: () => 80_000 },
});
const crashed = observed([container(pod, "c", "exited 1", { finishedAt: now - 5000 })]);

test("a container that never ran starts at once", () => {
  const { due, waiting, restarts } = startsNow(pod, observed([]), wanted, never);
  assert.deepEqual([due.length, waiting.length, restarts.length], [1, 0, 0]);
});

test("a crashed container waits for its backoff, with status and event", () => {
  const { due, waiting, againMilliseconds } = startsNow(pod, crashed, wanted, waits(3000));
  assert.deepEqual([due, againMilliseconds], [[], 3000]);
  assert.deepEqual(
    waiting.map(({ message, event }) => [message, event]),
    [
      [
        "back-off 1m20s restarting failed container=c pod=a_n(u)",
        "Back-off restarting failed container c in pod a_n(u)",
      ],
    ],
  );
});

test("a container whose backoff has expired starts, and its exit is recorded", () => {
  const { due, restarts } = startsNow(pod, crashed, wanted, never);
  assert.deepEqual([due.length, restarts.map(({ endedAt }) => endedAt)], [1, [now - 5000]]);
});

test("a container stuck in state created is retried every ten seconds", () => {
  const stuck = observed([container(pod, "c", "created", { createdAt: now - 4000 })]);
  const facts = { ...never, errors: new Map([["c", { reason: "RunContainerError" }]]) };
  assert.equal(startsNow(pod, stuck, wanted, facts).againMilliseconds, 6000);
  assert.equal(startsNow(pod, stuck, wanted, { ...facts, now: now + 6000 }).due.length, 1);
  assert.equal(startsNow(pod, stuck, wanted, { ...facts, now: now - 3_600_000 }).due.length, 1);
});
