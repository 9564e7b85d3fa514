import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { silentLog, virtualClock } from "#base";
import type { WorkerState } from "./state.ts";
import { type ActionResult, worker } from "./worker.ts";

const pod = (spec: object = {}): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", uid: "u" },
    spec: { containers: [], ...spec },
    status: {},
  }) as unknown as Pod;
const settled = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

function harness(act: (state: WorkerState, signal: AbortSignal) => Promise<ActionResult>) {
  const clock = virtualClock();
  const seen: string[] = [];
  const made = worker(
    { at: "syncing", pod: pod() },
    { clock, log: silentLog, act: (state, signal) => (seen.push(state.at), act(state, signal)) },
  );
  return { clock, seen, made };
}

test("actions run one at a time, and many wakes collapse into one more", async () => {
  let running = 0;
  let most = 0;
  const { clock, seen, made } = harness(async () => {
    most = Math.max(most, ++running);
    await clock.sleep(100);
    running--;
    return {};
  });
  made.wake();
  await settled();
  for (let i = 0; i < 10; i++) made.wake();
  await clock.advance(1000);
  await settled();
  assert.deepEqual([seen.length, most], [2, 1]);
});

test("a stop aborts the current sync and the pod is stopped", async () => {
  const { clock, seen, made } = harness(async (state, signal) => {
    if (state.at === "syncing") await clock.sleep(60_000, signal);
    return state.at === "terminating" ? { next: { type: "stopped" } } : {};
  });
  made.wake();
  await settled();
  made.send({ type: "stop", reason: { kind: "deleted" }, graceSeconds: 5 });
  await settled();
  assert.deepEqual(seen, ["syncing", "terminating", "terminated"]);
});

test("a shorter grace period aborts the current stop", async () => {
  const graces: number[] = [];
  const { clock, made } = harness(async (state, signal) => {
    if (state.at === "terminating") {
      graces.push(state.graceSeconds);
      await clock.sleep(60_000, signal);
    }
    return {};
  });
  made.send({ type: "stop", reason: { kind: "deleted" }, graceSeconds: 30 });
  await settled();
  made.send({ type: "stop", reason: { kind: "deleted" }, graceSeconds: 60 });
  made.send({ type: "stop", reason: { kind: "deleted" }, graceSeconds: 2 });
  await settled();
  assert.deepEqual(graces, [30, 2]);
});

test("a pod update waits for the current action, whether labels or spec changed", async () => {
  const aborted: boolean[] = [];
  const { clock, made } = harness(async (_, signal) => {
    await clock.sleep(100, signal).catch(() => undefined);
    aborted.push(signal.aborted);
    return {};
  });
  made.wake();
  await settled();
  made.send({
    type: "update",
    pod: { ...pod(), metadata: { name: "a", uid: "u", labels: { a: "b" } } } as unknown as Pod,
  });
  await settled();
  assert.deepEqual(aborted, []);
  await clock.advance(100);
  await settled();
  made.send({ type: "update", pod: pod({ activeDeadlineSeconds: 5 }) });
  await settled();
  assert.deepEqual(aborted, [false]);
  await clock.advance(100);
  await settled();
  assert.deepEqual(aborted, [false, false]);
});

test("a failed action is retried with increasing delay", async () => {
  const at: number[] = [];
  const { clock, made } = harness(async () => {
    at.push(clock.now());
    throw new Error("no");
  });
  made.wake();
  await settled();
  for (let i = 0; i < 40; i++) await clock.advance(1000);
  assert.deepEqual(at.slice(0, 6), [0, 2500, 7500, 17_500, 27_500, 37_500]);
});

test("an action can request to be repeated", async () => {
  const { clock, seen, made } = harness(async () => ({ againMilliseconds: 500 }));
  made.wake();
  await settled();
  for (let i = 0; i < 4; i++) await clock.advance(500);
  await settled();
  assert.equal(seen.length, 5);
});

test("a closed worker runs no further actions", async () => {
  const { clock, seen, made } = harness(async () => ({ againMilliseconds: 500 }));
  made.wake();
  await settled();
  await made.close();
  made.wake();
  await clock.advance(5000);
  assert.equal(seen.length, 1);
});
