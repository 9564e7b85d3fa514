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
  const told: ObservedPod[] = [];
  const cache = podCache({
    runtime,
    clock,
    log: silentLog,
    dialect: dialects.orch,
    onChange: (observed) => void told.push(observed),
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
  return { clock, runtime, told, cache, run };
}
const line = ({ uid, sandboxes, containers }: ObservedPod): string =>
  `${uid} ${sandboxes.map(({ ready }) => (ready ? "up" : "down")).join()} ${containers.map(({ name, state, exitCode }) => `${name}:${state}:${exitCode}`).join()}`;
const calls = (runtime: { calls: { method: string }[] }, method: string): number =>
  runtime.calls.filter((call) => call.method === method).length;

test("what changed is told once, and looked at closely only then", async () => {
  const { runtime, told, cache, run } = setUp();
  const { container } = await run("a");
  await cache.relist();
  await cache.relist();
  assert.deepEqual(told.map(line), ["a up c:running:0"]);
  assert.equal(calls(runtime, "ContainerStatus"), 1);
  runtime.end(container, 3);
  await cache.relist();
  await cache.relist();
  assert.deepEqual(told.map(line), ["a up c:running:0", "a up c:exited:3"]);
  assert.equal(calls(runtime, "ContainerStatus"), 2);
  assert.equal(cache.cached("a")?.containers[0]?.message, "bye");
});

test("that memory ran out is told even when the runtime says so a moment after the end", async () => {
  const { clock, runtime, told, run } = setUp();
  let reason = "Error";
  const slow: typeof runtime = {
    ...runtime,
    containerStatus: async (...asked) => {
      const report = await runtime.containerStatus(...asked);
      return { ...report, status: { ...report.status, reason } };
    },
  };
  const cache = podCache({
    runtime: slow,
    clock,
    log: silentLog,
    dialect: dialects.orch,
    onChange: (observed) => void told.push(observed),
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
    told.slice(1).map(({ containers }) => containers[0]?.reason),
    ["Error", "OOMKilled"],
  );
});

test("the newest container is the one with the highest number, though the clock was set back before it was made", async () => {
  const { clock, runtime } = setUp();
  const backwards: typeof runtime = {
    ...runtime,
    containerStatus: async (...asked) => {
      const { status } = await runtime.containerStatus(...asked);
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

test("a pod that is gone is told as empty, and forgotten", async () => {
  const { runtime, told, cache, run } = setUp();
  const { sandbox } = await run("a");
  await cache.relist();
  await runtime.stopPodSandbox(sandbox);
  await runtime.removePodSandbox(sandbox);
  await cache.relist();
  assert.deepEqual(told.map(line), ["a up c:running:0", "a  "]);
  assert.equal(cache.cached("a"), undefined);
});

test("a pod that cannot be looked at keeps nobody else from being seen, is not taken for absent, and is looked at again", async () => {
  const { runtime, told, cache, run } = setUp();
  await run("a");
  await run("b");
  const pod = { uid: "a", name: "name-a", namespace: "n" };
  const broken = new GrpcError("UNKNOWN", "the shim is gone");
  runtime.faults.fail("ContainerStatus", broken);
  await cache.relist();
  assert.deepEqual(told.map(line), ["b up c:running:0"]);
  assert.deepEqual([cache.has("a"), cache.cached("a")], [true, undefined]);
  runtime.faults.fail("ContainerStatus", broken);
  await assert.rejects(cache.fresh(pod), broken);
  assert.equal(line(await cache.fresh(pod)), "a up c:running:0");
  assert.equal(line(cache.cached("a")!), "a up c:running:0");
});

test("a pod that could not be looked at is told once it can be", async () => {
  const { runtime, told, cache, run } = setUp();
  const { container } = await run("a");
  await cache.relist();
  runtime.end(container, 1);
  runtime.faults.fail("ContainerStatus", new GrpcError("UNKNOWN", "the shim is gone"));
  await cache.relist();
  assert.equal(line(cache.cached("a")!), "a up c:running:0");
  await cache.relist();
  assert.deepEqual(told.map(line), ["a up c:running:0", "a up c:exited:1"]);
});

test("all is known once the runtime has listed it, and not before", async () => {
  const { runtime, cache } = setUp();
  let known = false;
  void cache.listed.then(() => (known = true));
  runtime.faults.fail("ListContainers", new GrpcError("UNAVAILABLE", "nobody there"));
  await assert.rejects(cache.relist());
  assert.equal(known, false);
  await cache.relist();
  assert.equal(known, true);
});

test("a runtime that was not listed for three minutes is a trouble of the node's", async () => {
  const { clock, cache } = setUp();
  await cache.relist();
  await clock.advance(180_000);
  assert.deepEqual(cache.troubles(), []);
  await clock.advance(5000);
  assert.deepEqual(cache.troubles(), [
    "PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s",
  ]);
  await cache.relist();
  assert.deepEqual(cache.troubles(), []);
});

test("what does not carry our runtimeLabels is not seen", async () => {
  const { told, cache, run } = setUp();
  await run("x", { other: "label" });
  await cache.relist();
  assert.deepEqual(told, []);
  assert.deepEqual([...cache.pods()], []);
});

test("looking at one pod is fresh, and a list that began before does not undo it", async () => {
  const { runtime, told, cache, run } = setUp();
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
  assert.ok(told.length >= 1);
});

test("a list that began before a pod was removed does not bring it back", async () => {
  const { runtime, told, cache, run } = setUp();
  const { sandbox } = await run("a");
  const open = runtime.faults.hold("PodSandboxStatus");
  const slow = cache.relist();
  await new Promise((resolve) => setImmediate(resolve));
  await runtime.stopPodSandbox(sandbox);
  await runtime.removePodSandbox(sandbox);
  await cache.refresh({ uid: "a", name: "name-a", namespace: "n" });
  open();
  await slow;
  assert.deepEqual(told, []);
  assert.equal(cache.cached("a"), undefined);
});

test("only those parts are looked at that were changed, and the lists find the rest", async () => {
  const { runtime, told, cache, run } = setUp();
  const pod = { uid: "a", name: "name-a", namespace: "n" };
  const { sandbox, container } = await run("a");
  assert.equal(line(await cache.refreshParts(pod, { sandboxes: [{ id: sandbox }] })), "a up ");
  assert.equal(
    line(await cache.refreshParts(pod, { containers: [{ id: container, sandboxId: sandbox }] })),
    "a up c:running:0",
  );
  assert.deepEqual([calls(runtime, "ListContainers"), calls(runtime, "ListPodSandbox")], [0, 0]);
  await cache.relist();
  assert.deepEqual(told, [], "it is as it was seen");
  runtime.end(container, 4);
  await cache.relist();
  assert.deepEqual(told.map(line), ["a up c:exited:4"]);
  const asked = calls(runtime, "ContainerStatus");
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
    [asked, 1],
    "what has ended is not asked for again",
  );
  await runtime.stopPodSandbox(sandbox);
  await cache.relist();
  assert.equal(told.length, 1, "the runtime shows what it said");
});

test("a part that is gone when looked at goes from the pod", async () => {
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

test("a container that was made just now is looked at when it is started, or after a while", async () => {
  const { clock, runtime, told, cache } = setUp();
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
  assert.deepEqual(told.map(line), ["a up "]);
  await clock.advance(2000);
  await cache.relist();
  assert.deepEqual(told.map(line), ["a up ", "a up c:created:0"]);
});

test("a look at a part does not undo a later look at the whole", async () => {
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

test("a runtime that is down is asked again until it answers", async () => {
  const { clock, runtime, told, cache, run } = setUp();
  await run("a");
  runtime.faults.setDown(true);
  const stop = new AbortController();
  const following = cache.follow(stop.signal);
  await clock.advance(3000);
  assert.deepEqual(told, []);
  runtime.faults.setDown(false);
  for (let i = 0; i < 5; i++) await clock.advance(1000);
  assert.deepEqual(told.map(line), ["a up c:running:0"]);
  assert.equal(cache.lastRelistAt() > 1_003_000, true);
  stop.abort();
  await following;
});

test("a runtime that tells what happens is heard at once", async () => {
  const { clock, told, cache, run } = setUp(true);
  const stop = new AbortController();
  const following = cache.follow(stop.signal);
  await new Promise((resolve) => setImmediate(resolve));
  await run("a");
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(told.map(line).at(-1), "a up c:running:0");
  assert.equal(clock.now(), 1_000_000);
  stop.abort();
  await following;
});
