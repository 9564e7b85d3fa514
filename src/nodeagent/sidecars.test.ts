// The life cycle of pods with sidecars, with a fake runtime.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Harness, on } from "./harness.fixture.ts";

const forever = ["sleep", "100000"];
const sidecar = (name: string, more: object = {}): object => ({
  name,
  image: "busybox:1",
  command: forever,
  restartPolicy: "Always",
  ...more,
});
const podOf = (initContainers: readonly object[], main: object = {}, spec: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a" },
  spec: {
    restartPolicy: "Never",
    terminationGracePeriodSeconds: 20,
    initContainers,
    containers: [{ name: "main", image: "busybox:1", command: forever, ...main }],
    ...spec,
  },
});
const uid = "uid-of-a";
const running = ({ status }: Harness): string[] =>
  [...(status(uid).initContainerStatuses ?? []), ...(status(uid).containerStatuses ?? [])].flatMap(
    ({ name, state }) => (state.running ? [name] : []),
  );
/** Returns the names of containers in the order of their StopContainer calls. */
function stopped(h: Harness): string[] {
  const { initContainerStatuses = [], containerStatuses = [] } = h.status(uid);
  const named = [...initContainerStatuses, ...containerStatuses];
  return h.runtime.calls.flatMap(({ method, request }) => {
    const { containerId } = request as { containerId: string };
    if (method !== "StopContainer") return [];
    return [named.find(({ containerID }) => containerID?.endsWith(`://${containerId}`))?.name ?? containerId];
  });
}

test("sidecars start in order, each when the one before it has started, then the containers", async () => {
  await on({}, async (h) => {
    const startupProbe = { exec: { command: ["true"] }, initialDelaySeconds: 5, periodSeconds: 1 };
    h.run(podOf([sidecar("first", { startupProbe }), sidecar("second")]));
    await h.pass(3);
    assert.deepEqual([running(h), h.status(uid).phase], [["first"], "Pending"]);
    await h.pass(6);
    assert.deepEqual([running(h), h.status(uid).phase], [["first", "second", "main"], "Running"]);
  });
});

test("a sidecar that exits is restarted while the main container keeps running", async () => {
  await on({}, async (h) => {
    h.run(podOf([sidecar("helper", { command: ["sleep", "30"] })]));
    await h.pass(2);
    assert.deepEqual(running(h), ["helper", "main"]);
    await h.pass(45);
    const [helper] = h.status(uid).initContainerStatuses ?? [];
    assert.deepEqual([running(h), helper?.restartCount], [["helper", "main"], 1]);
    assert.equal(h.status(uid).containerStatuses?.[0]?.restartCount, 0);
  });
});

test("a pod whose containers succeed succeeds, and its sidecars are stopped", async () => {
  await on({}, async (h) => {
    h.run(podOf([sidecar("helper")], { command: ["sleep", "3"] }));
    await h.pass(40);
    const { phase, initContainerStatuses } = h.status(uid);
    assert.deepEqual([phase, initContainerStatuses?.[0]?.state.terminated?.exitCode], ["Succeeded", 137]);
    assert.equal(initContainerStatuses?.[0]?.restartCount, 0);
  });
});

test("a deleted pod stops its containers first, then its sidecars in reverse order", async () => {
  await on({}, async (h) => {
    const willing = { command: ["sh", "-c", "trap 'exit 0' TERM; sleep 100000"] };
    h.run(podOf([sidecar("first", willing), sidecar("second", willing)]));
    await h.pass(2);
    h.delete(uid, 5);
    await h.pass(4);
    assert.deepEqual(stopped(h), ["main"], "the container takes its time");
    await h.pass(4);
    assert.deepEqual(stopped(h), ["main", "second", "first"]);
    assert.deepEqual(h.deleted, [uid]);
  });
});

test("sidecars do not wait for an init container that is still running", async () => {
  await on({}, async (h) => {
    const stubborn = { command: ["sh", "-c", "trap 'sleep 100' TERM; sleep 100000"] };
    const init = { name: "init", image: "busybox:1", ...stubborn };
    h.run(podOf([sidecar("helper"), init]));
    await h.pass(2);
    assert.deepEqual(running(h), ["helper", "init"]);
    h.delete(uid, 5);
    await h.pass(1);
    assert.deepEqual(stopped(h).toSorted(), ["helper", "init"]);
    await h.pass(12);
  });
});

test("a container that uses up the grace period leaves its sidecars two seconds", async () => {
  await on({}, async (h) => {
    const stubborn = { command: ["sh", "-c", "trap 'sleep 100' TERM; sleep 100000"] };
    h.run(podOf([sidecar("helper", stubborn)], stubborn));
    await h.pass(2);
    h.delete(uid, 5);
    await h.pass(12);
    const times = h.runtime.calls.flatMap(({ method, request }) =>
      method === "StopContainer" ? [Number((request as { timeout: bigint | number }).timeout)] : [],
    );
    assert.deepEqual([times.slice(0, 2), h.deleted], [[5, 2], [uid]]);
  });
});
