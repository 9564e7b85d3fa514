import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { silentLog, virtualClock } from "#base";
import type { Logind } from "./logind.ts";
import { nodeShutdown } from "./node-shutdown.ts";
import { shutdownSteps } from "./plan.ts";

const podOf = (uid: string, priority: number): Pod =>
  ({ metadata: { name: uid, uid }, spec: { priority } }) as unknown as Pod;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A machine whose login manager does as told, and what was asked of it. */
function machine(
  delays: readonly number[],
  pods: readonly Pod[] = [],
  stubborn: readonly string[] = [],
  criticalSeconds = 10,
) {
  const clock = virtualClock();
  const calls: string[] = [];
  let shutdown: (begins: boolean) => void = () => undefined;
  let asked = 0;
  const logind: Logind = {
    longestDelaySeconds: async () => delays[Math.min(asked++, delays.length - 1)]!,
    overrideDelay: async (seconds) => void calls.push(`override ${seconds}`),
    inhibit: async () => {
      calls.push("inhibit");
      return () => void calls.push("release");
    },
    onShutdown: async (listener) => void (shutdown = listener),
  };
  const it = nodeShutdown({
    clock,
    log: silentLog,
    events: { event: (_, __, reason) => calls.push(reason) },
    nodeName: "n1",
    agentTitle: "Agent",
    steps: shutdownSteps({ graceSeconds: 30, criticalSeconds, byPriority: [] }),
    connect: async () => logind,
    pods: () => pods,
    evictor: {
      evict: async (uid, { graceSeconds }, signal) => {
        calls.push(`end ${uid} ${graceSeconds}`);
        if (stubborn.includes(uid))
          await new Promise((resolve) => signal!.addEventListener("abort", resolve));
      },
    },
    store: { write: async () => undefined } as never,
    onChange: () => calls.push("changed"),
  });
  return { it, clock, calls, begin: () => shutdown(true), callOff: () => shutdown(false) };
}

test("a shutdown ends pods group by group, turns new ones away, and goes on when they are gone", async () => {
  const { it, calls, begin } = machine([60], [podOf("system", 2_000_000_000), podOf("plain", 0)]);
  await it.run(new AbortController().signal);
  assert.deepEqual(it.admit(podOf("x", 0), []), { ok: true });
  begin();
  for (let turns = 0; turns < 10; turns++) await turn();
  assert.deepEqual(calls, ["inhibit", "Shutdown", "changed", "end plain 20", "end system 10", "release"]);
  assert.equal(it.trouble(), "node is shutting down");
  assert.deepEqual(it.admit(podOf("x", 0), []), {
    ok: false,
    reason: "NodeShutdown",
    message: "Pod was rejected as the node is shutting down.",
  });
});

test("pods of a group without seconds have their own time, and nobody waits for them", async () => {
  const pods = [podOf("system", 2_000_000_000), podOf("plain", 0)];
  const { it, clock, calls, begin } = machine([60], pods, ["plain"], 30);
  await it.run(new AbortController().signal);
  begin();
  for (let turns = 0; turns < 5; turns++) await turn();
  await clock.advance(1);
  for (let turns = 0; turns < 10; turns++) await turn();
  assert.deepEqual(calls.slice(3), ["end plain undefined", "end system 30", "release"]);
});

test("a group that does not end in time does not keep the next one waiting", async () => {
  const pods = [podOf("system", 2_000_000_000), podOf("plain", 0)];
  const { it, clock, calls, begin } = machine([60], pods, ["plain"]);
  await it.run(new AbortController().signal);
  begin();
  for (let turns = 0; turns < 5; turns++) await turn();
  assert.ok(!calls.includes("end system 10"));
  await clock.advance(20_000);
  for (let turns = 0; turns < 5; turns++) await turn();
  assert.deepEqual(calls.slice(-2), ["end system 10", "release"]);
});

test("a login manager that waits too little is asked for more", async () => {
  const { it, calls, clock } = machine([5, 30]);
  const running = it.run(new AbortController().signal);
  await turn();
  await clock.advance(1000);
  await running;
  assert.deepEqual(calls, ["override 30", "inhibit"]);
});

test("where it still waits too little, shutdowns are not followed and the agent goes on", async () => {
  const { it, calls, clock } = machine([5]);
  const running = it.run(new AbortController().signal);
  for (let turns = 0; turns < 10; turns++) {
    await turn();
    await clock.advance(2000);
  }
  await running;
  assert.deepEqual(calls, ["override 30"]);
});

test("a shutdown that is called off is waited for again", async () => {
  const { it, calls, begin, callOff } = machine([60]);
  await it.run(new AbortController().signal);
  begin();
  for (let turns = 0; turns < 5; turns++) await turn();
  callOff();
  for (let turns = 0; turns < 5; turns++) await turn();
  assert.deepEqual(calls, ["inhibit", "Shutdown", "changed", "release", "inhibit", "changed"]);
  assert.equal(it.trouble(), undefined);
});
