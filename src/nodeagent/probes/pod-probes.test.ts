import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContainerStatus } from "#api";
import { type VirtualClock, virtualClock } from "#base";
import type { ContainerRuntime } from "#cri";
import { observed, samplePod, container as running } from "../pod.fixture.ts";
import { uidOf } from "../pod.ts";
import { type Probes, probes } from "./probes.ts";

interface ProbesPlay {
  readonly clock: VirtualClock;
  readonly all: Probes;
  /** The seconds since the start at which the command of a container ran, and the container's number. */
  readonly ran: string[];
  readonly changes: string[];
  readonly results: string[];
  /** Shows the pod with its container running for the nth time, or not running. */
  show(restarts: number | undefined, startedAt?: number, before?: ContainerStatus[]): void;
  pass(seconds: number): Promise<void>;
}

/** Plays the probes of a pod with one container, whose commands exit with the code given last. */
function play(probesOfContainer: object, exitCode: () => number, random?: () => number): ProbesPlay {
  const clock = virtualClock(2_000_000);
  const pod = samplePod({ containers: [{ name: "c", image: "i", ...probesOfContainer }] });
  const ran: string[] = [];
  const changes: string[] = [];
  const results: string[] = [];
  const seconds = (): number => clock.now() / 1000 - 2000;
  const runtime = {
    execSync: async (id: string, [kind]: string[]) => {
      ran.push(`${kind} ${id} @${seconds()}`);
      if (exitCode() < 0) throw new Error("no such container");
      return { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), exitCode: exitCode() };
    },
  } as unknown as ContainerRuntime;
  const all = probes({
    runtime,
    clock,
    events: { event: () => undefined },
    node: { name: "n", hostIps: () => [], allocatable: () => ({}), labels: () => ({}) },
    userAgent: "u",
    onChange: () => changes.push(`@${seconds()}`),
    onResult: (_pod, _container, kind, { result }) => results.push(`${kind} ${result}`),
    ...(random && { random }),
  });
  return {
    clock,
    all,
    ran,
    changes,
    results,
    show: (restarts, startedAt = clock.now(), before = []) => {
      const found = running(pod, "c", restarts === undefined ? "exited" : "running", {
        restarts: restarts ?? 0,
      });
      all.update(pod, observed([{ ...found, id: `c${restarts ?? 0}`, startedAt }]), before);
    },
    pass: async (count) => {
      await clock.advance(0);
      await turns();
      for (let second = 0; second < count; second++) {
        await clock.advance(1000);
        await turns();
      }
    },
  };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

const exec = (kind: string, fields: object) => ({ exec: { command: [kind] }, ...fields });

test("liveness and startup probes run at ticks that begin with the pod, not with its container", async () => {
  const { show, pass, ran, all } = play({ livenessProbe: exec("live", { periodSeconds: 10 }) }, () => 0);
  all.update(samplePod({ containers: [] }), observed([]), []);
  show(undefined);
  await pass(4);
  show(0);
  await pass(20);
  show(1);
  await pass(10);
  assert.deepEqual(ran, ["live c0 @10", "live c0 @20", "live c1 @30"]);
});

test("a probe runs at the first tick after its initial delay, counted from the start in whole seconds", async () => {
  const delayed = play(
    { livenessProbe: exec("live", { periodSeconds: 2, initialDelaySeconds: 5 }) },
    () => 0,
  );
  delayed.show(0, 2_000_900);
  await delayed.pass(7);
  assert.deepEqual(delayed.ran, ["live c0 @6"]);
});

test("a container that is not ready is probed at once with each sync of its pod", async () => {
  let code = 1;
  const { show, pass, ran, all, changes } = play(
    { readinessProbe: exec("ready", { periodSeconds: 30 }) },
    () => code,
  );
  show(undefined);
  await pass(3);
  show(0);
  await pass(1);
  // The new container is a change by itself, upon which the pod is synced.
  assert.deepEqual([ran, changes], [["ready c0 @3"], ["@3"]]);
  code = 0;
  show(0);
  await pass(1);
  assert.deepEqual([ran.at(-1), all.isReady("c0", true)], ["ready c0 @4", true]);
  show(0);
  await pass(1);
  assert.equal(ran.length, 2);
});

test("results are counted across restarts of the container, and from zero after a failed liveness probe", async () => {
  const { show, pass, all } = play(
    { livenessProbe: exec("live", { periodSeconds: 1, failureThreshold: 3 }) },
    () => 1,
  );
  show(undefined);
  await pass(0);
  show(0);
  await pass(1);
  show(1);
  await pass(1);
  assert.equal(all.failed("c1"), undefined);
  await pass(1);
  assert.equal(all.failed("c1"), "LivenessProbe");
  show(2);
  await pass(2);
  assert.equal(all.failed("c2"), undefined);
  await pass(1);
  assert.equal(all.failed("c2"), "LivenessProbe");
});

test("no probe runs after the liveness probe has failed until there is a new container", async () => {
  const { show, pass, ran } = play(
    { livenessProbe: exec("live", { periodSeconds: 1, failureThreshold: 1 }) },
    () => 1,
  );
  show(undefined);
  await pass(0);
  show(0);
  await pass(3);
  show(undefined);
  await pass(3);
  show(1);
  await pass(3);
  assert.deepEqual(ran, ["live c0 @1", "live c1 @7"]);
});

test("a restarted container has to start again before its other probes run", async () => {
  const { show, pass, ran, all } = play(
    {
      startupProbe: exec("startup", { periodSeconds: 1 }),
      livenessProbe: exec("live", { periodSeconds: 1 }),
    },
    () => 0,
  );
  show(0);
  assert.equal(all.isStarted("c0", true), false);
  await pass(3);
  assert.equal(all.isStarted("c0", true), true);
  show(1);
  assert.equal(all.isStarted("c1", true), false);
  ran.splice(0);
  await pass(1);
  assert.deepEqual(ran, ["startup c1 @4", "live c1 @4"]);
});

test("a probe that cannot be executed counts neither as a result nor in the metrics", async () => {
  const { show, pass, results, ran } = play({ livenessProbe: exec("live", { periodSeconds: 1 }) }, () => -1);
  show(undefined);
  await pass(0);
  show(0);
  await pass(2);
  assert.deepEqual([results, ran.length], [[], 6]);
});

test("after a restart of the agent probes are spread over their period, and the first result decides", async () => {
  const { show, pass, ran, all } = play(
    { readinessProbe: exec("ready", { periodSeconds: 10, failureThreshold: 3 }) },
    () => 1,
    () => 0.5,
  );
  const before = { name: "c", containerID: "containerd://c0", started: true, ready: true };
  show(0, 1_000_000, [before as ContainerStatus]);
  await pass(4);
  assert.deepEqual([ran, all.isReady("c0", true)], [[], true]);
  await pass(1);
  assert.deepEqual([ran, all.isReady("c0", true)], [["ready c0 @5"], false]);
});

test("a terminating pod gets no new probe workers", async () => {
  const { show, pass, ran, all } = play({ livenessProbe: exec("live", { periodSeconds: 1 }) }, () => 0);
  all.stopping(uidOf(samplePod({ containers: [] })));
  show(0);
  await pass(3);
  assert.deepEqual(ran, []);
});

test("a clock that is set back neither delays probes nor the first one", async () => {
  const { clock, show, pass, ran } = play(
    { livenessProbe: exec("live", { periodSeconds: 10, initialDelaySeconds: 5 }) },
    () => 0,
  );
  show(0);
  await pass(5);
  clock.set(1_000_000);
  await pass(30);
  assert.equal(ran.length, 3);
});

test("after close no probe is executed", async () => {
  const clock = virtualClock(2_000_000);
  const pod = samplePod({
    containers: [
      { name: "c", image: "i", readinessProbe: { exec: { command: ["true"] }, periodSeconds: 1 } },
    ],
  });
  let requests = 0;
  const runtime = {
    execSync: () =>
      Promise.resolve({
        stdout: Buffer.alloc(0),
        stderr: Buffer.alloc(0),
        exitCode: 0,
        requests: requests++,
      }),
  } as unknown as ContainerRuntime;
  const all = probes({
    runtime,
    clock,
    events: { event: () => undefined },
    node: { name: "n", hostIps: () => [], allocatable: () => ({}), labels: () => ({}) },
    userAgent: "u",
    onChange: () => undefined,
  });
  const pass = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await clock.advance(1000);
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  all.update(pod, observed([running(pod, "c", "running")]), []);
  await pass();
  assert.ok(requests > 1);
  all.close();
  const before = requests;
  all.update(pod, observed([running(pod, "c", "running", { restarts: 1 })]), []);
  await pass();
  assert.equal(requests, before);
});
