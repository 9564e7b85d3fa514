import assert from "node:assert/strict";
import { test } from "node:test";
import { GrpcError } from "#http";
import { type Harness, on } from "../harness.fixture.ts";

const hook = { lifecycle: { preStop: { exec: { command: ["sleep", "3"] } } } };
const failing = (own?: number): object => ({
  livenessProbe: {
    exec: { command: ["false"] },
    periodSeconds: 1,
    failureThreshold: 1,
    ...(own !== undefined && { terminationGracePeriodSeconds: own }),
  },
});
const podOf = (container: object, spec: object): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a" },
  spec: {
    restartPolicy: "Never",
    containers: [{ name: "main", image: "busybox:1", command: ["sleep", "100000"], ...container }],
    ...spec,
  },
});
const remove =
  (seconds: number) =>
  (h: Harness): void =>
    h.delete("uid-of-a", seconds);
const evict = (h: Harness): void => void h.pods.evict("uid-of-a", { reason: "Evicted", message: "no room" });
const wait = (): void => undefined;

/** The expected calls of the container's hook and stop: "hook, stop 5". */
const ends: [name: string, container: object, spec: object, act: (h: Harness) => void, calls: string][] = [
  [
    "a deleted pod's containers get the grace period of the deletion",
    {},
    { terminationGracePeriodSeconds: 20 },
    remove(7),
    "stop 7",
  ],
  ["the grace period is at least one second", {}, { terminationGracePeriodSeconds: 20 }, remove(0), "stop 1"],
  [
    "with a grace period of 0 the hook is not run",
    hook,
    { terminationGracePeriodSeconds: 20 },
    remove(0),
    "stop 1",
  ],
  [
    "the hook is not run if the pod's own grace period is 0",
    hook,
    { terminationGracePeriodSeconds: 0 },
    evict,
    "stop 1",
  ],
  [
    "the hook's time is not deducted when the whole pod is stopped",
    hook,
    { terminationGracePeriodSeconds: 20 },
    remove(7),
    "hook, stop 7",
  ],
  [
    "a hook is waited for only during the grace period",
    hook,
    { terminationGracePeriodSeconds: 20 },
    remove(2),
    "hook, stop 2",
  ],
  ["an evicted pod gets its own grace period", {}, { terminationGracePeriodSeconds: 9 }, evict, "stop 9"],
  [
    "past the deadline a container gets at least two seconds",
    {},
    { terminationGracePeriodSeconds: 0, activeDeadlineSeconds: 2 },
    wait,
    "stop 2",
  ],
  [
    "past the deadline the hook's time is deducted",
    hook,
    { terminationGracePeriodSeconds: 9, activeDeadlineSeconds: 2 },
    wait,
    "hook, stop 6",
  ],
  [
    "a container that fails its probe gets at least two seconds",
    failing(),
    { terminationGracePeriodSeconds: 1 },
    wait,
    "stop 2",
  ],
  [
    "a probe's own grace period takes precedence",
    failing(4),
    { restartPolicy: "Always", terminationGracePeriodSeconds: 30 },
    wait,
    "stop 4",
  ],
  [
    "the hook's time is deducted when a single container is stopped",
    { ...hook, ...failing(8) },
    { restartPolicy: "Always", terminationGracePeriodSeconds: 30 },
    wait,
    "hook, stop 5",
  ],
  [
    "a hook that used up the grace period leaves two seconds",
    { ...hook, ...failing(3) },
    { restartPolicy: "Always", terminationGracePeriodSeconds: 30 },
    wait,
    "hook, stop 2",
  ],
  [
    "a failed postStart hook still runs the preStop hook",
    { lifecycle: { ...hook.lifecycle, postStart: { exec: { command: ["sh", "-c", "exit 4"] } } } },
    { terminationGracePeriodSeconds: 9 },
    wait,
    "hook, stop 6",
  ],
];
for (const [name, container, spec, act, calls] of ends) {
  test(name, async () => {
    await on({}, async (h) => {
      h.run(podOf(container, spec));
      await h.pass(1);
      act(h);
      await h.pass(16);
      const seen = h.runtime.calls.flatMap(({ method, request }) => {
        const { timeout, cmd } = request as { timeout?: bigint | number; cmd?: readonly string[] };
        if (method === "StopContainer") return [`stop ${timeout}`];
        return method === "ExecSync" && cmd?.[0] === "sleep" ? ["hook"] : [];
      });
      const first = seen.findIndex((call) => call.startsWith("stop"));
      assert.equal(seen.slice(0, first + 1).join(", "), calls);
    });
  });
}

const evictions: [name: string, script: string, spec: object, phase: string][] = [
  [
    "an evicted pod whose containers exit with 0 has succeeded, without a reason",
    "trap 'exit 0' TERM; sleep 100000",
    {},
    "Succeeded undefined",
  ],
  [
    "an evicted pod whose container fails has failed with the reason",
    "trap 'exit 3' TERM; sleep 100000",
    {},
    "Failed Evicted",
  ],
  [
    "a pod past its deadline has failed regardless of its containers' exit codes",
    "trap 'exit 0' TERM; sleep 100000",
    { activeDeadlineSeconds: 1 },
    "Failed DeadlineExceeded",
  ],
];
for (const [name, script, spec, messages] of evictions) {
  test(name, async () => {
    await on({}, async (h) => {
      h.run(podOf({ command: ["sh", "-c", script] }, { terminationGracePeriodSeconds: 5, ...spec }));
      await h.pass(1);
      if (!("activeDeadlineSeconds" in spec)) evict(h);
      await h.pass(8);
      const { phase, reason } = h.status("uid-of-a");
      assert.equal(`${phase} ${reason}`, messages);
    });
  });
}

test("an evicted pod object stays, and nothing of it is left in the runtime", async () => {
  await on({}, async (h) => {
    h.run(podOf({}, { terminationGracePeriodSeconds: 1 }));
    await h.pass(1);
    evict(h);
    await h.pass(4);
    assert.deepEqual([await h.runtime.listPodSandboxes(), await h.runtime.listContainers()], [[], []]);
    assert.equal(h.status("uid-of-a").containerStatuses?.[0]?.state.terminated?.exitCode, 137);
    assert.deepEqual(h.deleted, []);
    h.delete("uid-of-a", 1);
    await h.pass(2);
    assert.deepEqual(h.deleted, ["uid-of-a"]);
  });
});

test("a pod whose deadline passes while it terminates fails with DeadlineExceeded", async () => {
  await on({}, async (h) => {
    h.run(
      podOf(
        { command: ["sh", "-c", "trap 'sleep 4; exit 0' TERM; sleep 100000"] },
        { activeDeadlineSeconds: 3, terminationGracePeriodSeconds: 9 },
      ),
    );
    await h.pass(1);
    h.delete("uid-of-a", 9);
    await h.pass(10);
    assert.deepEqual(
      [h.statuses.get("uid-of-a")?.at(-1)?.phase, h.statuses.get("uid-of-a")?.at(-1)?.reason],
      ["Failed", "DeadlineExceeded"],
    );
    assert.equal(h.reasons().filter((reason) => reason === "DeadlineExceeded").length, 1);
  });
});

test("a pod that cannot be stopped is reported, and stopped as soon as possible", async () => {
  await on({}, async (h) => {
    h.run(podOf({}, {}));
    await h.pass(1);
    h.runtime.faults.fail("StopContainer", new GrpcError("UNKNOWN", "shim says no"));
    h.delete("uid-of-a", 1);
    await h.pass(1);
    const messages = h.events
      .filter(({ reason }) => reason === "FailedKillPod")
      .map(({ type, message }) => `${type} ${message}`);
    assert.deepEqual(messages, [
      `Warning error killing pod: failed to "KillContainer" for "main" with KillContainerError: "rpc error: code = Unknown desc = shim says no"`,
    ]);
    assert.deepEqual(h.deleted, []);
    await h.pass(5);
    assert.deepEqual(h.deleted, ["uid-of-a"]);
  });
});

test("a finished pod whose sandbox cannot be stopped is reported", async () => {
  await on({}, async (h) => {
    h.runtime.faults.fail("StopPodSandbox", new GrpcError("UNKNOWN", "no network"));
    h.run(podOf({ command: ["sh", "-c", "exit 0"] }, {}));
    await h.pass(3);
    const messages = h.events
      .filter(({ reason }) => reason === "FailedKillPod")
      .map(({ message }) => message);
    assert.deepEqual(messages, [
      `error killing pod: failed to "KillPodSandbox" for "uid-of-a" with KillPodSandboxError: "rpc error: code = Unknown desc = no network"`,
    ]);
  });
});

test("a failure to remove what has stopped is not reported for the pod", async () => {
  await on({}, async (h) => {
    h.run(podOf({}, {}));
    await h.pass(1);
    h.runtime.faults.fail("RemovePodSandbox", new GrpcError("UNKNOWN", "busy"));
    h.delete("uid-of-a", 1);
    await h.pass(10);
    assert.equal(h.runtime.calls.filter(({ method }) => method === "RemovePodSandbox").length, 2);
    assert.deepEqual(
      h.reasons().filter((reason) => reason === "FailedKillPod"),
      [],
    );
  });
});
