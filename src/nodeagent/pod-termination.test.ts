import assert from "node:assert/strict";
import { test } from "node:test";
import { sandboxState } from "#cri";
import { dialects } from "#dialect";
import { type Harness, harness, on } from "./harness.fixture.ts";
import type { ContainerContributor } from "./interfaces.ts";
import { portsCollide } from "./node/host-ports.ts";
import { condition, made, podOf, states } from "./worker-pods.fixture.ts";

/** Returns, for each deleted pod, the last runtime call before the agent deleted the pod object. */
async function lastActsBeforeGone(play: (h: Harness) => Promise<void>): Promise<(string | undefined)[]> {
  const acts: (string | undefined)[] = [];
  let h: Harness | undefined;
  await on({ onDelete: () => acts.push(made(h!).at(-1)) }, async (fresh) => {
    await play((h = fresh));
    assert.deepEqual(await fresh.runtime.listPodSandboxes(), []);
  });
  return acts;
}

test("a deleted pod is removed from the API once its containers have exited; its sandbox is removed later, unless it has host ports", async () => {
  const acts = await lastActsBeforeGone(async (h) => {
    h.run(podOf("plain"));
    h.run(podOf("ports", { ports: [{ containerPort: 80, hostPort: 8080 }] }));
    await h.pass(2);
    h.delete("uid-of-plain", 1);
    await h.pass(3);
    h.delete("uid-of-ports", 1);
    await h.pass(3);
  });
  assert.deepEqual(acts, ["StopContainer", "StopPodSandbox"]);
});

test("a pod whose start was interrupted is removed only after its sandbox, in which a container may have started unseen", async () => {
  const acts = await lastActsBeforeGone(async (h) => {
    const release = h.runtime.faults.hold("StartContainer");
    h.run(podOf("a"));
    await h.pass(1);
    h.delete("uid-of-a", 1);
    await h.pass(3);
    release();
    await h.pass(3);
  });
  assert.deepEqual(acts, ["StopPodSandbox"]);
});

test("a pod's node resources are released before its end or its removal is visible in the API", async () => {
  const order: string[] = [];
  let h: Harness | undefined;
  const phase = (uid: string) => h?.statuses.get(uid)?.at(-1)?.phase;
  const contributor: ContainerContributor = {
    contribute: () => Promise.resolve({}),
    release: (uid) => void order.push(`${uid} ${phase(uid)}`),
  };
  await on(
    { parts: { contributors: [contributor] }, onDelete: (uid) => order.push(`${uid} gone`) },
    async (fresh) => {
      h = fresh;
      h.run(podOf("a", { command: ["sh", "-c", "exit 0"] }, { restartPolicy: "Never" }));
      h.run(podOf("b"));
      await h.pass(3);
      assert.equal(phase("uid-of-a"), "Succeeded");
      h.delete("uid-of-b", 1);
      await h.pass(3);
    },
  );
  assert.equal(
    order.find((line) => line.startsWith("uid-of-a")),
    "uid-of-a Running",
  );
  assert.deepEqual(order.filter((line) => line.startsWith("uid-of-b")).slice(0, 2), [
    "uid-of-b Running",
    "uid-of-b gone",
  ]);
});

test("the cgroup of a deleted pod is released once, not again when its object is deleted", async () => {
  const released: string[] = [];
  await on({ onRelease: (uid) => released.push(uid) }, async (h) => {
    h.run(podOf("a"));
    await h.pass(3);
    h.delete("uid-of-a", 1);
    await h.pass(3);
    assert.deepEqual(h.deleted, ["uid-of-a"]);
  });
  assert.deepEqual(released, ["uid-of-a"]);
});

test("the sandbox of a finished pod is stopped although the pod object remains", () =>
  on({}, async (h) => {
    h.run(podOf("a", { command: ["sh", "-c", "exit 0"] }, { restartPolicy: "Never" }));
    await h.pass(3);
    assert.equal(h.status("uid-of-a").phase, "Succeeded");
    assert.deepEqual(
      (await h.runtime.listPodSandboxes()).map(({ state }) => state),
      [sandboxState.notReady],
    );
  }));

test("a critical pod starts once the preempted pods have exited, which report the preemption", () =>
  on(
    {
      admission: {
        admit: (pod, others) => ({ ok: true, ...(pod.metadata.name === "b" && { preempts: others }) }),
      },
    },
    async (h) => {
      h.run(podOf("a", { command: ["sleep", "100000"] }, { terminationGracePeriodSeconds: 5 }));
      await h.pass(2);
      h.run(podOf("b"));
      await h.pass(10);
      assert.deepEqual(
        [h.status("uid-of-a").phase, h.status("uid-of-a").reason, h.status("uid-of-b").phase],
        ["Failed", "Preempting", "Running"],
      );
      assert.equal(condition(h, "uid-of-a", "DisruptionTarget"), "True");
      assert.ok(h.reasons().includes("Preempting"));
      const calls = made(h);
      assert.ok(calls.indexOf("StopContainer") < calls.lastIndexOf("StartContainer"), calls.join(" "));
    },
  ));

test("a second deletion with a shorter grace period ends the wait", () =>
  on({}, async (h) => {
    h.run(podOf("a"));
    await h.pass(1);
    h.delete("uid-of-a", 60);
    await h.pass(5);
    assert.deepEqual(h.deleted, []);
    h.delete("uid-of-a", 1);
    await h.pass(4);
    assert.deepEqual(h.deleted, ["uid-of-a"]);
    assert.equal(h.reasons().filter((reason) => reason === "Killing").length, 1);
  }));

test("a deletion does not interrupt the start of a container, which would look like a failed one", () =>
  on({}, async (h) => {
    const release = h.runtime.faults.hold("StartContainer");
    h.run(podOf("a"));
    await h.pass(1);
    h.delete("uid-of-a", 1);
    await h.pass(1);
    assert.deepEqual(h.deleted, []);
    release();
    await h.pass(4);
    assert.deepEqual(h.deleted, ["uid-of-a"]);
    assert.equal(h.reasons().includes("Failed"), false);
    assert.deepEqual(made(h).slice(2, 4), ["StartContainer", "StopContainer"]);
  }));

test("a preStop hook runs first and its failure is recorded as an event", () =>
  on({}, async (h) => {
    h.run(podOf("a", { lifecycle: { preStop: { exec: { command: ["false"] } } } }));
    await h.pass(1);
    h.delete("uid-of-a", 3);
    await h.pass(8);
    assert.deepEqual(made(h).slice(3, 5), ["ExecSync", "StopContainer"]);
    assert.ok(h.reasons().includes("FailedPreStopHook"));
  }));

test("a pod past its deadline fails", () =>
  on({}, async (h) => {
    h.run(podOf("a", {}, { activeDeadlineSeconds: 5, terminationGracePeriodSeconds: 1 }));
    await h.pass(3);
    assert.equal(h.status("uid-of-a").phase, "Running");
    await h.pass(6);
    assert.deepEqual(
      [h.status("uid-of-a").phase, h.status("uid-of-a").reason],
      ["Failed", "DeadlineExceeded"],
    );
  }));

test("a pod that no source wants is terminated and removed", () =>
  on({}, async (h) => {
    h.run(podOf("a", {}, { terminationGracePeriodSeconds: 1 }));
    await h.pass(1);
    h.pods.drop("uid-of-a");
    await h.pass(4);
    assert.equal((await h.runtime.listPodSandboxes()).length, 0);
  }));

test("a pod that replaces a force-deleted one is admitted, and starts when the host ports are free", () =>
  on(
    {
      admission: {
        admit: (pod, others) =>
          portsCollide(pod, others) ? { ok: false, reason: "NodePorts", message: "taken" } : { ok: true },
      },
    },
    async (h) => {
      const ported = (uid: string): object => ({
        ...podOf(
          "a",
          { ports: [{ containerPort: 80, hostPort: 8080 }] },
          { terminationGracePeriodSeconds: 1 },
        ),
        metadata: { name: "a", uid },
      });
      h.run(ported("old"));
      await h.pass(1);
      const release = h.runtime.faults.hold("StopContainer");
      h.pods.drop("old");
      h.run(ported("new"));
      await h.pass(2);
      assert.equal(made(h).filter((call) => call === "RunPodSandbox").length, 1);
      release();
      await h.pass(3);
      assert.deepEqual(
        [states(h, "new"), made(h).indexOf("StopPodSandbox") < made(h).lastIndexOf("RunPodSandbox")],
        ["main:running:0", true],
      );
    },
  ));

test("a running pod that no source knows is terminated and removed", async () => {
  const first = harness();
  first.run(
    podOf(
      "a",
      { lifecycle: { preStop: { exec: { command: ["true"] } } } },
      { terminationGracePeriodSeconds: 1 },
    ),
  );
  await first.pass(1);
  await first.close();
  const second = harness({ reuse: first });
  second.runtime.calls.length = 0;
  await second.pass(4);
  assert.deepEqual(made(second), [
    "ExecSync",
    "StopContainer",
    "StopPodSandbox",
    "RemoveContainer",
    "RemovePodSandbox",
  ]);
  assert.equal(second.pods.has("uid-of-a"), false);
  await second.close();
});

test("a static pod that is added again before it has terminated runs again afterwards, as a restart", () =>
  on({}, async (h) => {
    const annotations = { [dialects.orch.names.annotations.configSource]: "file" };
    const definition = podOf("a", {}, { terminationGracePeriodSeconds: 5 }) as { metadata: object };
    const pod = h.run({ ...definition, metadata: { ...definition.metadata, annotations } });
    await h.pass(2);
    h.pods.drop("uid-of-a");
    await h.pass(1);
    h.pods.set(pod);
    await h.pass(20);
    assert.equal(h.pods.registry.byUid("uid-of-a")?.status.phase, "Running");
    assert.equal(made(h).filter((method) => method === "RunPodSandbox").length, 2);
    assert.equal(
      h.pods.registry.byUid("uid-of-a")?.status.containerStatuses?.map(({ restartCount }) => restartCount)[0],
      1,
    );
    h.pods.drop("uid-of-a");
    await h.pass(20);
    assert.equal(made(h).filter((method) => method === "RemovePodSandbox").length, 2);
  }));

test("an evicted pod keeps its grace period, and an event is recorded if it takes longer than ten seconds", async () => {
  await on({}, async (h) => {
    const stubborn = { command: ["sh", "-c", "trap 'sleep 100' TERM; sleep 100000"] };
    h.run(podOf("a", stubborn, { terminationGracePeriodSeconds: 20 }));
    await h.pass(2);
    const stop = new AbortController();
    const evicted = h.pods.evict(
      "uid-of-a",
      { reason: "Evicted", message: "", graceSeconds: 0 },
      stop.signal,
    );
    await h.pass(9);
    assert.ok(!h.reasons().includes("ExceededGracePeriod"));
    await h.pass(3);
    assert.deepEqual(
      h.events.filter(({ reason }) => reason === "ExceededGracePeriod").map(({ message }) => message),
      ["Container runtime did not kill the pod within specified grace period."],
    );
    assert.match(states(h, "uid-of-a"), /running/);
    await h.pass(12);
    stop.abort();
    await evicted;
    assert.equal(h.statuses.get("uid-of-a")?.at(-1)?.phase, "Failed");
  });
});

test("of two static pods with one name the first runs, and the second once the first has ended", () =>
  on({}, async (h) => {
    const annotations = { [dialects.orch.names.annotations.configSource]: "file" };
    const definition = podOf("a", {}, { terminationGracePeriodSeconds: 1 }) as { metadata: object };
    for (const uid of ["one", "two"])
      h.run({ ...definition, metadata: { ...definition.metadata, annotations, uid } });
    const phases = () => ["one", "two"].map((uid) => h.pods.registry.byUid(uid)?.status.phase);
    await h.pass(5);
    assert.deepEqual(phases(), ["Running", undefined]);
    h.pods.drop("one");
    await h.pass(10);
    assert.deepEqual(phases(), [undefined, "Running"]);
  }));
