import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import type { ContainerRuntime } from "#cri";
import { runtimeHealth } from "./runtime-health.ts";

type Condition = { type: string; status: boolean; reason: string; message: string };
const condition = (type: string, status: boolean, reason = "", message = ""): Condition => ({
  type,
  status,
  reason,
  message,
});
const good = [condition("RuntimeReady", true), condition("NetworkReady", true)];

function setUp() {
  const clock = virtualClock(1_000_000);
  let answer: Condition[] | Error | Promise<never> = good;
  let changes = 0;
  const runtime = {
    status: () =>
      answer instanceof Error
        ? Promise.reject(answer)
        : answer instanceof Promise
          ? answer
          : Promise.resolve({ conditions: answer }),
    version: () => Promise.resolve({ runtimeName: "rt", runtimeVersion: "1.2" }),
  } as unknown as ContainerRuntime;
  const health = runtimeHealth({ runtime, clock, log: silentLog, onChange: () => changes++ });
  return { clock, health, changes: () => changes, answerWith: (next: typeof answer) => void (answer = next) };
}

test("a runtime is not ready before the first check, and then reports its own state", async (t) => {
  const { health, changes } = setUp();
  t.after(() => health.stop());
  assert.deepEqual(health.problems(), ["container runtime status check may not have completed yet"]);
  await health.check();
  assert.deepEqual(health.problems(), []);
  assert.deepEqual([health.version()?.runtimeName, health.version()?.runtimeVersion], ["rt", "1.2"]);
  assert.ok(changes() >= 1);
});

test("a network that is not ready is reported with the runtime's reason and message", async (t) => {
  const { health, answerWith } = setUp();
  t.after(() => health.stop());
  answerWith([
    good[0]!,
    condition("NetworkReady", false, "NetworkPluginNotReady", "cni plugin not initialized"),
  ]);
  await health.check();
  assert.deepEqual(health.problems(), [
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized",
  ]);
});

test("a runtime that accepts calls but never responds is down, too", async (t) => {
  const { clock, health, answerWith } = setUp();
  t.after(() => health.stop());
  await health.check();
  answerWith(new Promise<never>(() => undefined));
  await clock.advance(25_000);
  assert.deepEqual(health.problems(), []);
  await clock.advance(15_000);
  assert.deepEqual(health.problems(), ["container runtime is down"]);
});

test("a runtime is down after half a minute without response, and up with its first response", async (t) => {
  const { clock, health, answerWith } = setUp();
  t.after(() => health.stop());
  await health.check();
  answerWith(new Error("no such socket"));
  await clock.advance(25_000);
  assert.deepEqual(health.problems(), [], "a restart of the runtime is not a problem");
  await clock.advance(15_000);
  assert.deepEqual(health.problems(), ["container runtime is down"]);
  answerWith(good);
  await clock.advance(5_000);
  assert.deepEqual(health.problems(), []);
});

test("the runtime keeps its name during an outage, and its version is queried again afterwards", async (t) => {
  const { clock, health, answerWith } = setUp();
  t.after(() => health.stop());
  await health.check();
  answerWith(new Error("no such socket"));
  await clock.advance(35_000);
  assert.equal(health.version()?.runtimeName, "rt");
  answerWith(good);
  await clock.advance(5000);
  assert.equal(health.version()?.runtimeVersion, "1.2");
});
