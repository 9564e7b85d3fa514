import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { fakeRuntime } from "#cri";
import { GrpcError } from "#http";
import { dialects } from "#dialect";
import { runtimeLabelNames } from "./runtime-labels.ts";
import type { ObservedPod } from "./observed.ts";
import { podCache } from "./pod-cache.ts";

const names = runtimeLabelNames(dialects.orch);
const labelsOf = (uid: string) => ({
  [names.podUid]: uid,
  [names.podName]: `name-${uid}`,
  [names.podNamespace]: "n",
});

function setUp(events = false) {
  const clock = virtualClock(1_000_000);
  const runtime = fakeRuntime({ clock, images: ["busybox:1"], events });
  const observations: ObservedPod[] = [];
  const cache = podCache({
    runtime,
    clock,
    log: silentLog,
    dialect: dialects.orch,
    onChange: (observed) => void observations.push(observed),
    readTerminationMessage: async () => "bye",
  });
  const run = async (
    uid: string,
    labels: Record<string, string> = labelsOf(uid),
  ): Promise<{ sandbox: string; container: string }> => {
    const config = { metadata: { name: uid, uid, namespace: "n" }, labels, linux: {} };
    const sandbox = await runtime.runPodSandbox(config);
    const container = await runtime.createContainer(
      sandbox,
      {
        metadata: { name: "c" },
        image: { image: "busybox:1" },
        command: ["sleep", "1000"],
        labels: { ...labels, [names.containerName]: "c" },
      },
      config,
    );
    await runtime.startContainer(container);
    return { sandbox, container };
  };
  return { clock, runtime, observations, cache, run };
}
const line = ({ uid, sandboxes, containers }: ObservedPod): string =>
  `${uid} ${sandboxes.map(({ ready }) => (ready ? "up" : "down")).join()} ${containers.map(({ name, state, exitCode }) => `${name}:${state}:${exitCode}`).join()}`;
const calls = (runtime: { calls: { method: string }[] }, method: string): number =>
  runtime.calls.filter((call) => call.method === method).length;

test("a change is reported once, and a container is inspected only when it changes", async () => {
  const { runtime, observations, cache, run } = setUp();
  const { container } = await run("a");
  await cache.relist();
  await cache.relist();
  assert.deepEqual(observations.map(line), ["a up c:running:0"]);
  assert.equal(calls(runtime, "ContainerStatus"), 1);
  runtime.end(container, 3);
  await cache.relist();
  await cache.relist();
  assert.deepEqual(observations.map(line), ["a up c:running:0", "a up c:exited:3"]);
  assert.equal(calls(runtime, "ContainerStatus"), 2);
  assert.equal(cache.cached("a")?.containers[0]?.message, "bye");
});

test("an OOM kill is reported even if the runtime reports it a moment after the exit", async () => {
  const { clock, runtime, observations, run } = setUp();
  let reason = "Error";
  const slow: typeof runtime = {
    ...runtime,
    containerStatus: async (...call) => {
      const report = await runtime.containerStatus(...call);
      return { ...report, status: { ...report.status, reason } };
    },
  };
  const cache = podCache({
    runtime: slow,
    clock,
    log: silentLog,
    dialect: dialects.orch,
    onChange: (observed) => void observations.push(observed),
    readTerminationMessage: async () => "",
  });
  const { container } = await run("a");
  await cache.relist();
  runtime.end(container, 137);
  await cache.relist();
  await cache.relist();
  reason = "OOMKilled";
  await clock.advance(1000);
  await cache.relist();
  reason = "never asked for";
  await cache.relist();
  assert.deepEqual(
    observations.slice(1).map(({ containers }) => containers[0]?.reason),
    ["Error", "OOMKilled"],
  );
});

test("the newest container is the one with the highest attempt, even if the clock was set back before its creation", async () => {
  const { clock, runtime } = setUp();
  const backwards: typeof runtime = {
    ...runtime,
    containerStatus: async (...call) => {
      const { status } = await runtime.containerStatus(...call);
      return {
        status: {
          ...status,
          createdAt: 1_000_000_000_000n - BigInt(status.annotations[names.restartCount] ?? 0),
        },
      };
    },
  };
  const cache = podCache({
    runtime: backwards,
    clock,
    log: silentLog,
    dialect: dialects.orch,
    onChange: () => undefined,
    readTerminationMessage: async () => "",
  });
  const config = { metadata: { name: "a", uid: "a", namespace: "n" }, labels: labelsOf("a"), linux: {} };
  const sandbox = await runtime.runPodSandbox(config);
  for (const attempt of [0, 2, 1]) {
    const labels = { ...labelsOf("a"), [names.containerName]: "c" };
    await runtime.createContainer(
      sandbox,
      {
        metadata: { name: "c", attempt },
        image: { image: "busybox:1" },
        labels,
        annotations: { [names.restartCount]: String(attempt) },
      },
      config,
    );
  }
  const { containers } = await cache.refresh({ uid: "a", name: "name-a", namespace: "n" });
  assert.deepEqual(
    containers.map(({ runtimeLabels }) => runtimeLabels.restartCount),
    [2, 1, 0],
  );
});

test("a removed pod is reported as empty, and dropped", async () => {
  const { runtime, observations, cache, run } = setUp();
  const { sandbox } = await run("a");
  await cache.relist();
  await runtime.stopPodSandbox(sandbox);
  await runtime.removePodSandbox(sandbox);
  await cache.relist();
  assert.deepEqual(observations.map(line), ["a up c:running:0", "a  "]);
  assert.equal(cache.cached("a"), undefined);
});

test("a pod that cannot be inspected does not affect others, is not considered absent, and is inspected again", async () => {
  const { runtime, observations, cache, run } = setUp();
  await run("a");
  await run("b");
  const pod = { uid: "a", name: "name-a", namespace: "n" };
  const broken = new GrpcError("UNKNOWN", "the shim is gone");
  runtime.faults.fail("ContainerStatus", broken);
  await cache.relist();
  assert.deepEqual(observations.map(line), ["b up c:running:0"]);
  assert.deepEqual([cache.has("a"), cache.cached("a")], [true, undefined]);
  runtime.faults.fail("ContainerStatus", broken);
  await assert.rejects(cache.fresh(pod), broken);
  assert.equal(line(await cache.fresh(pod)), "a up c:running:0");
  assert.equal(line(cache.cached("a")!), "a up c:running:0");
});

test("a pod that could not be inspected is reported once it can be", async () => {
  const { runtime, observations, cache, run } = setUp();
  const { container } = await run("a");
  await cache.relist();
  runtime.end(container, 1);
  runtime.faults.fail("ContainerStatus", new GrpcError("UNKNOWN", "the shim is gone"));
  await cache.relist();
  assert.equal(line(cache.cached("a")!), "a up c:running:0");
  await cache.relist();
  assert.deepEqual(observations.map(line), ["a up c:running:0", "a up c:exited:1"]);
});

test("the cache is listed after the first successful relist, and not before", async () => {
  const { runtime, cache } = setUp();
  let known = false;
  void cache.listed.then(() => (known = true));
  runtime.faults.fail("ListContainers", new GrpcError("UNAVAILABLE", "nobody there"));
  await assert.rejects(cache.relist());
  assert.equal(known, false);
  await cache.relist();
  assert.equal(known, true);
});

test("a runtime that has not been listed for three minutes is a problem of the node", async () => {
  const { clock, cache } = setUp();
  await cache.relist();
  await clock.advance(180_000);
  assert.deepEqual(cache.problems(), []);
  await clock.advance(5000);
  assert.deepEqual(cache.problems(), [
    "PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s",
  ]);
  await cache.relist();
  assert.deepEqual(cache.problems(), []);
});

test("containers without the agent's labels are ignored", async () => {
  const { observations, cache, run } = setUp();
  await run("x", { other: "label" });
  await cache.relist();
  assert.deepEqual(observations, []);
  assert.deepEqual([...cache.pods()], []);
});

test("a refresh of one pod is current, and an earlier list does not overwrite it", async () => {
  const { runtime, observations, cache, run } = setUp();
  const { container } = await run("a");
  await cache.relist();
  const open = runtime.faults.hold("ListContainers");
  const slow = cache.relist();
  runtime.end(container, 1);
  open();
  const seen = await cache.refresh({ uid: "a", name: "name-a", namespace: "n" });
  await slow;
  assert.equal(line(seen), "a up c:exited:1");
  assert.equal(line(cache.cached("a")!), "a up c:exited:1");
  assert.ok(observations.length >= 1);
});

test("a list that began before a pod was removed does not restore it", async () => {
  const { runtime, observations, cache, run } = setUp();
  const { sandbox } = await run("a");
  const open = runtime.faults.hold("PodSandboxStatus");
  const slow = cache.relist();
  await new Promise((resolve) => setImmediate(resolve));
  await runtime.stopPodSandbox(sandbox);
  await runtime.removePodSandbox(sandbox);
  await cache.refresh({ uid: "a", name: "name-a", namespace: "n" });
  open();
  await slow;
  assert.deepEqual(observations, []);
  assert.equal(cache.cached("a"), undefined);
});

test("only changed parts are inspected, and relists find the rest", async () => {
  const { runtime, observations, cache, run } = setUp();
  const pod = { uid: "a", name: "name-a", namespace: "n" };
  const { sandbox, container } = await run("a");
  assert.equal(line(await cache.refreshParts(pod, { sandboxes: [{ id: sandbox }] })), "a up ");
  assert.equal(
    line(await cache.refreshParts(pod, { containers: [{ id: container, sandboxId: sandbox }] })),
    "a up c:running:0",
  );
  assert.deepEqual([calls(runtime, "ListContainers"), calls(runtime, "ListPodSandbox")], [0, 0]);
  await cache.relist();
  assert.deepEqual(observations, [], "the state has not changed");
  runtime.end(container, 4);
  await cache.relist();
  assert.deepEqual(observations.map(line), ["a up c:exited:4"]);
  const inspections = calls(runtime, "ContainerStatus");
  assert.equal(
    line(
      await cache.refreshParts(pod, {
        containers: [{ id: container, sandboxId: sandbox }],
        stopped: [{ id: sandbox }],
      }),
    ),
    "a down c:exited:4",
  );
  assert.deepEqual(
    [calls(runtime, "ContainerStatus"), calls(runtime, "PodSandboxStatus")],
    [inspections, 1],
    "an exited container is not inspected again",
  );
  await runtime.stopPodSandbox(sandbox);
  await cache.relist();
  assert.equal(observations.length, 1, "the list agrees with the confirmed stop");
});

test("a part that no longer exists when inspected is removed from the pod", async () => {
  const { runtime, cache, run } = setUp();
  const pod = { uid: "a", name: "name-a", namespace: "n" };
  const { sandbox, container } = await run("a");
  await cache.refresh(pod);
  await runtime.stopPodSandbox(sandbox);
  await runtime.removePodSandbox(sandbox);
  assert.equal(
    line(await cache.refreshParts(pod, { containers: [{ id: container, sandboxId: sandbox }] })),
    "a up ",
  );
  cache.forget(pod);
  assert.equal(cache.cached("a"), undefined);
});

test("a newly created container is inspected when it is started, or after a while", async () => {
  const { clock, runtime, observations, cache } = setUp();
  const config = { metadata: { name: "a", uid: "a", namespace: "n" }, labels: labelsOf("a"), linux: {} };
  const sandbox = await runtime.runPodSandbox(config);
  await runtime.createContainer(
    sandbox,
    {
      metadata: { name: "c" },
      image: { image: "busybox:1" },
      labels: { ...labelsOf("a"), [names.containerName]: "c" },
    },
    config,
  );
  await cache.relist();
  assert.deepEqual(observations.map(line), ["a up "]);
  await clock.advance(2000);
  await cache.relist();
  assert.deepEqual(observations.map(line), ["a up ", "a up c:created:0"]);
});

test("an inspection of a part does not overwrite a later refresh of the pod", async () => {
  const { runtime, cache, run } = setUp();
  const pod = { uid: "a", name: "name-a", namespace: "n" };
  const { sandbox, container } = await run("a");
  const open = runtime.faults.hold("ContainerStatus");
  const slow = cache.refreshParts(pod, { containers: [{ id: container, sandboxId: sandbox }] });
  runtime.end(container, 1);
  open();
  await cache.refresh(pod);
  await slow;
  assert.equal(line(cache.cached("a")!), "a up c:exited:1");
});

test("a runtime that is down is relisted until it responds", async () => {
  const { clock, runtime, observations, cache, run } = setUp();
  await run("a");
  runtime.faults.setDown(true);
  const stop = new AbortController();
  const following = cache.follow(stop.signal);
  await clock.advance(3000);
  assert.deepEqual(observations, []);
  runtime.faults.setDown(false);
  for (let i = 0; i < 5; i++) await clock.advance(1000);
  assert.deepEqual(observations.map(line), ["a up c:running:0"]);
  assert.ok(cache.sinceRelist() < 3000);
  stop.abort();
  await following;
});

test("runtime events are handled immediately", async () => {
  const { clock, observations, cache, run } = setUp(true);
  const stop = new AbortController();
  const following = cache.follow(stop.signal);
  await new Promise((resolve) => setImmediate(resolve));
  await run("a");
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(observations.map(line).at(-1), "a up c:running:0");
  assert.equal(clock.now(), 1_000_000);
  stop.abort();
  await following;
});

test("a clock that was set back neither hides created containers nor delays the next relist", async () => {
  const { clock, runtime, observations, cache } = setUp();
  const config = { metadata: { name: "a", uid: "a", namespace: "n" }, labels: labelsOf("a"), linux: {} };
  const sandbox = await runtime.runPodSandbox(config);
  await runtime.createContainer(
    sandbox,
    {
      metadata: { name: "c" },
      image: { image: "busybox:1" },
      labels: { ...labelsOf("a"), [names.containerName]: "c" },
    },
    config,
  );
  clock.set(0);
  await cache.relist();
  assert.deepEqual(observations.map(line), ["a up c:created:0"]);
  clock.set(1_000_000_000);
  assert.equal(cache.sinceRelist(), 0);
});
