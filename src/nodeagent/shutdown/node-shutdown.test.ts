import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { silentLog, virtualClock } from "#base";
import type { CheckpointStore } from "../interfaces.ts";
import type { Logind } from "./logind.ts";
import { nodeShutdown } from "./node-shutdown.ts";
import { shutdownSteps } from "./plan.ts";

const podOf = (uid: string, priority: number): Pod =>
  ({ metadata: { name: uid, uid }, spec: { priority } }) as unknown as Pod;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Sets up a machine with a fake logind that records its calls. */
function machine(
  delays: readonly number[],
  pods: readonly Pod[] = [],
  stubborn: readonly string[] = [],
  criticalSeconds = 10,
  saved?: string,
) {
  const clock = virtualClock();
  const calls: string[] = [];
  let shutdown: (begins: boolean) => void = () => undefined;
  let requests = 0;
  let lose: () => void = () => undefined;
  let connections = 0;
  let open = 0;
  let refuses = false;
  const times: [number, number][] = [];
  const logind = (): Logind => ({
    closed: new Promise((resolve) => (lose = resolve)),
    close: () => void open--,
    longestDelaySeconds: async () => delays[Math.min(requests++, delays.length - 1)]!,
    overrideDelay: async (seconds) => void calls.push(`override ${seconds}`),
    inhibit: async () => {
      if (refuses) throw new Error("no lock");
      calls.push("inhibit");
      return () => void calls.push("release");
    },
    onShutdown: async (listener) => void (shutdown = listener),
  });
  const store: CheckpointStore = {
    read: async () => saved,
    write: async () => undefined,
    remove: async () => undefined,
    names: async () => [],
  };
  const it = nodeShutdown({
    clock,
    log: silentLog,
    events: { event: (_, __, reason, message) => calls.push(reason, ...(/cancel/.exec(message) ?? [])) },
    nodeName: "n1",
    agentTitle: "Agent",
    steps: shutdownSteps({ graceSeconds: 30, criticalSeconds, byPriority: [] }),
    connect: async () => {
      // The bus is not available again immediately.
      if (++connections === 2) throw new Error("no bus");
      open++;
      return logind();
    },
    pods: () => pods,
    evictor: {
      evict: async (uid, { graceSeconds }, signal) => {
        calls.push(`end ${uid} ${graceSeconds}`);
        if (stubborn.includes(uid))
          await new Promise((resolve) => signal!.addEventListener("abort", resolve));
      },
    },
    store,
    onChange: () => calls.push("changed"),
    onTimes: (start, end) => times.push([start, end]),
  });
  const stop = new AbortController();
  return {
    it,
    clock,
    calls,
    times,
    begin: () => shutdown(true),
    callOff: () => shutdown(false),
    lose: () => {
      open--;
      lose();
    },
    refuse: () => (refuses = true),
    open: () => open,
    stop,
    run: () => it.run(stop.signal),
  };
}

const turns = async (): Promise<void> => {
  for (let each = 0; each < 20; each++) await turn();
};

test("a shutdown stops pods group by group, rejects new ones, and proceeds when they have ended", async () => {
  const pods = [podOf("system", 2_000_000_000), podOf("plain", 0)];
  const { it, run, calls, begin, times, clock } = machine([60], pods);
  void run();
  await turns();
  assert.deepEqual(it.admit(podOf("x", 0), []), { ok: true });
  begin();
  await turns();
  assert.deepEqual(calls, ["inhibit", "Shutdown", "changed", "end plain 20", "end system 10", "release"]);
  assert.deepEqual(times, [
    [Math.trunc(clock.now() / 1000), 0],
    [Math.trunc(clock.now() / 1000), 0],
  ]);
  assert.equal(it.notReadyReason(), "node is shutting down");
  assert.deepEqual(it.admit(podOf("x", 0), []), {
    ok: false,
    reason: "NodeShutdown",
    message: "Pod was rejected as the node is shutting down.",
  });
});

test("pods of a group with 0 seconds get their own grace period, and are not waited for", async () => {
  const pods = [podOf("system", 2_000_000_000), podOf("plain", 0)];
  const { run, clock, calls, begin } = machine([60], pods, ["plain"], 30);
  void run();
  await turns();
  begin();
  await turns();
  await clock.advance(1);
  await turns();
  assert.deepEqual(calls.slice(3), ["end plain 0", "end system 30", "release"]);
});

test("a group that exceeds its time does not delay the next one", async () => {
  const pods = [podOf("system", 2_000_000_000), podOf("plain", 0)];
  const { run, clock, calls, begin } = machine([60], pods, ["plain"]);
  void run();
  await turns();
  begin();
  await turns();
  assert.ok(!calls.includes("end system 10"));
  await clock.advance(20_000);
  await turns();
  assert.deepEqual(calls.slice(-2), ["end system 10", "release"]);
});

test("a too short InhibitDelayMaxSec is raised", async () => {
  const { run, calls, clock } = machine([5, 30]);
  void run();
  await turns();
  await clock.advance(1000);
  await turns();
  assert.deepEqual(calls, ["override 30", "inhibit"]);
});

test("if the delay stays too short, shutdowns are not handled and the agent continues", async () => {
  const { it, calls, clock } = machine([5]);
  const running = it.run(new AbortController().signal);
  for (let rounds = 0; rounds < 10; rounds++) {
    await turn();
    await clock.advance(2000);
  }
  await running;
  assert.deepEqual(calls, ["override 30"]);
});

test("after a cancelled shutdown the next one is handled", async () => {
  const { it, run, calls, begin, callOff } = machine([60]);
  void run();
  await turns();
  begin();
  await turns();
  callOff();
  await turns();
  const again = ["Shutdown", "cancel", "changed", "inhibit"];
  assert.deepEqual(calls, ["inhibit", "Shutdown", "changed", "release", ...again]);
  assert.equal(it.notReadyReason(), undefined);
});

test("a shutdown cancelled while pods terminate keeps its new lock", async () => {
  const { it, run, clock, calls, begin, callOff } = machine([60], [podOf("plain", 0)], ["plain"]);
  void run();
  await turns();
  begin();
  await turns();
  callOff();
  await turns();
  assert.equal(it.notReadyReason(), "node is shutting down");
  await clock.advance(20_000);
  await turns();
  assert.deepEqual(calls.slice(-5), ["release", "Shutdown", "cancel", "changed", "inhibit"]);
  assert.equal(it.notReadyReason(), undefined);
});

test("a lost bus connection is retried until it succeeds", async () => {
  const { it, run, clock, calls, lose, begin, stop } = machine([60]);
  const running = run();
  await turns();
  lose();
  for (let rounds = 0; rounds < 3; rounds++) {
    await turns();
    await clock.advance(1000);
  }
  await turns();
  assert.deepEqual(calls, ["inhibit", "inhibit", "release"]);
  begin();
  await turns();
  assert.equal(it.notReadyReason(), "node is shutting down");
  stop.abort();
  await running;
});

test("a connection on which no lock can be taken is closed before the next attempt", async () => {
  const { run, clock, lose, refuse, open, stop } = machine([60]);
  const running = run();
  await turns();
  refuse();
  lose();
  for (let rounds = 0; rounds < 5; rounds++) {
    await turns();
    await clock.advance(1000);
  }
  await turns();
  assert.equal(open(), 0);
  stop.abort();
  await running;
});

test("an agent that stops during a shutdown leaves the pods of later groups alone", async () => {
  const { run, calls, begin, stop } = machine(
    [60],
    [podOf("system", 2_000_000_000), podOf("plain", 0)],
    ["plain"],
  );
  void run();
  await turns();
  begin();
  await turns();
  stop.abort();
  await turns();
  assert.deepEqual(calls.slice(3), ["end plain 20", "release"]);
});

test("the times of the previous shutdown are reported", async () => {
  const saved = JSON.stringify({ startTime: "2024-01-01T00:00:10.5Z", endTime: "0001-01-01T00:00:00Z" });
  const { run, times } = machine([60], [], [], 10, saved);
  void run();
  await turns();
  assert.deepEqual(times, [[Date.parse("2024-01-01T00:00:10Z") / 1000, 0]]);
});
