// A runtime that fails now and then, or that carries out a call but loses the response, causes nothing but
// delays.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodStatus } from "#api";
import { containerState, sandboxState } from "#cri";
import { GrpcError } from "#http";
import type { ObservedPod } from "./containers/observed.ts";
import { type Harness, harness, on } from "./harness.fixture.ts";
import { containerStatuses } from "./status/container-statuses.ts";

const uid = "uid-of-a";
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a" },
  spec: {
    terminationGracePeriodSeconds: 1,
    initContainers: [{ name: "first", image: "busybox:1", command: ["true"] }],
    containers: [
      {
        name: "main",
        image: "busybox:1",
        command: ["sleep", "100000"],
        readinessProbe: { exec: { command: ["true"] }, periodSeconds: 1 },
      },
    ],
  },
};
const broken = (): GrpcError => new GrpcError("UNAVAILABLE", "broken");
const isReady = ({ conditions }: PodStatus): boolean =>
  conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
const running = async (h: Harness): Promise<number> =>
  (await h.runtime.listContainers({ state: { state: containerState.running } })).length;
const restarts = (h: Harness): (number | undefined)[] =>
  [...(h.status(uid).initContainerStatuses ?? []), ...(h.status(uid).containerStatuses ?? [])].map(
    ({ restartCount }) => restartCount,
  );

const acts = [
  "RunPodSandbox",
  "CreateContainer",
  "StartContainer",
  "StopContainer",
  "StopPodSandbox",
  "RemoveContainer",
  "RemovePodSandbox",
];
const questions = ["ListPodSandbox", "ListContainers", "PodSandboxStatus", "ContainerStatus", "ImageStatus"];

const faults: [what: string, order: (h: Harness) => void][] = [
  ...[...acts, ...questions].map((method): [string, (h: Harness) => void] => [
    `${method} fails twice`,
    (h) => h.runtime.faults.fail(method, broken(), 2),
  ]),
  ...acts.map((method): [string, (h: Harness) => void] => [
    `${method} is carried out and its response is lost`,
    (h) => h.runtime.faults.lose(method),
  ]),
  [
    "the responses of all calls that start a pod are lost",
    (h) => acts.slice(0, 3).forEach((method) => h.runtime.faults.lose(method)),
  ],
  [
    "the responses of all calls that terminate a pod are lost",
    (h) => acts.slice(3).forEach((method) => h.runtime.faults.lose(method)),
  ],
];
for (const [what, order] of faults) {
  test(`${what}: the pod still becomes ready once, and leaves nothing behind`, () =>
    on({}, async (h) => {
      order(h);
      h.run(pod);
      await h.runThroughErrors(60);
      assert.equal(isReady(h.status(uid)), true, JSON.stringify(h.status(uid)));
      assert.equal(await running(h), 1);
      assert.deepEqual(restarts(h), [0, 0]);
      order(h);
      h.delete(uid, 1);
      await h.runThroughErrors(60);
      assert.deepEqual(h.deleted, [uid]);
      assert.deepEqual(await h.runtime.listPodSandboxes(), []);
      assert.deepEqual(await h.runtime.listContainers(), []);
    }));
}

test("a restarted agent waits for a pod that the runtime cannot inspect: it neither recreates it nor reports it as lost", async () => {
  const first = harness();
  first.run(pod);
  await first.pass(5);
  const status = first.status(uid);
  assert.equal(isReady(status), true);
  await first.close();
  const second = harness({
    reuse: first,
    // A pod that is treated as new is rejected.
    admission: {
      admit: (_, __, ran) => (ran ? { ok: true } : { ok: false, reason: "NoRoom", message: "it is full" }),
    },
  });
  second.runtime.faults.fail("ContainerStatus", broken(), 4);
  await second.listOnce();
  second.runtime.calls.length = 0;
  second.run({ ...pod, status });
  await second.runThroughErrors(20);
  assert.deepEqual(
    second.runtime.calls.map(({ method }) => method).filter((method) => acts.includes(method)),
    [],
  );
  const observedStatuses = second.statuses.get(uid) ?? [];
  assert.deepEqual(
    observedStatuses.filter((one) => !isReady(one)),
    [],
  );
  assert.deepEqual(
    restarts(second).filter((count) => count !== 0),
    [],
  );
  await second.close();
});

test("an ephemeral container of a new pod starts together with the other containers", () =>
  on({}, async (h) => {
    h.run({
      ...pod,
      spec: {
        ...pod.spec,
        ephemeralContainers: [{ name: "debug", image: "busybox:1", command: ["sleep", "100000"] }],
      },
    });
    await h.pass(4);
    assert.equal(h.status(uid).ephemeralContainerStatuses?.[0]?.state.running !== undefined, true);
  }));

for (const method of ["CreateContainer", "StartContainer"]) {
  for (const [what, order] of [
    ["fails", (h: Harness) => h.runtime.faults.fail(method, broken())],
    ["is carried out and its response is lost", (h: Harness) => h.runtime.faults.lose(method)],
  ] as const) {
    test(`an ephemeral container runs although its ${method} ${what}`, () =>
      on({}, async (h) => {
        h.run(pod);
        await h.pass(5);
        order(h);
        h.run({
          ...pod,
          spec: {
            ...pod.spec,
            ephemeralContainers: [{ name: "debug", image: "busybox:1", command: ["sleep", "100000"] }],
          },
        });
        await h.pass(30);
        const [debug] = h.status(uid).ephemeralContainerStatuses ?? [];
        assert.deepEqual(
          [debug?.state.running !== undefined, debug?.restartCount, await running(h)],
          [true, 0, 2],
        );
      }));
  }
}

test("an init container that has exited when it is inspected is followed by the next container at once", () =>
  on({}, async (h) => {
    h.run(pod);
    await h.pass(4);
    assert.equal(isReady(h.status(uid)), true);
  }));

test("an exited container that cannot be removed does not impede its pod, and is removed later", () =>
  on({}, async (h) => {
    h.runtime.faults.fail("RemoveContainer", broken(), 500);
    h.run({ ...pod, spec: { containers: [{ name: "main", image: "busybox:1", command: ["false"] }] } });
    await h.pass(120);
    assert.ok((restarts(h)[0] ?? 0) >= 3, `restarted ${restarts(h)[0]} times`);
    h.runtime.faults.heal("RemoveContainer");
    await h.pass(120);
    assert.ok((await h.runtime.listContainers()).length <= 2);
  }));

test("broken sandboxes do not accumulate", () =>
  on({}, async (h) => {
    h.run(pod);
    for (let times = 0; times < 3; times++) {
      await h.pass(90);
      assert.equal(isReady(h.status(uid)), true);
      for (const { id, state } of await h.runtime.listPodSandboxes())
        if (state === sandboxState.ready) h.runtime.breakSandbox(id);
    }
    await h.pass(90);
    assert.equal(isReady(h.status(uid)), true);
    assert.ok((await h.runtime.listPodSandboxes()).length <= 2);
  }));

test("a pod whose object is deleted while its sandbox is being stopped is cleaned up", () =>
  on({}, async (h) => {
    const release = h.runtime.faults.hold("StopPodSandbox");
    h.run({
      ...pod,
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox:1", command: ["true"] }] },
    });
    await h.pass(3);
    assert.equal(h.status(uid).phase, "Succeeded");
    h.pods.drop(uid);
    await h.pass(1);
    release();
    await h.pass(3);
    assert.deepEqual([await h.runtime.listPodSandboxes(), h.pods.has(uid)], [[], false]);
  }));

test("a sandbox that is not ready after a failed stop is stopped again: it may still hold its IP address", () =>
  on({}, async (h) => {
    h.runtime.faults.lose("StopPodSandbox");
    h.run({
      ...pod,
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox:1", command: ["true"] }] },
    });
    await h.pass(15);
    assert.equal(h.status(uid).phase, "Succeeded");
    assert.equal(h.runtime.calls.filter(({ method }) => method === "StopPodSandbox").length, 2);
  }));

test("a restarted agent stops a sandbox that is not ready once more: the earlier stop may have been interrupted", async () => {
  const once = {
    ...pod,
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox:1", command: ["true"] }] },
  };
  const stops = ({ runtime }: Harness): number =>
    runtime.calls.filter(({ method }) => method === "StopPodSandbox").length;
  const first = harness();
  first.run(once);
  await first.pass(15);
  const status = first.status(uid);
  assert.deepEqual([status.phase, stops(first)], ["Succeeded", 1]);
  await first.close();
  const second = harness({ reuse: first });
  await second.listOnce();
  second.runtime.calls.length = 0;
  second.run({ ...once, status });
  await second.pass(15);
  assert.equal(stops(second), 1);
  await second.close();
});

test("a container that cannot be removed because of a stray process is removed once the pod's cgroup is released", async () => {
  const heal: (() => void)[] = [];
  await on({ onRelease: () => heal.forEach((end) => end()) }, async (h) => {
    h.run(pod);
    await h.pass(5);
    h.runtime.faults.fail("RemoveContainer", broken(), Infinity);
    heal.push(() => h.runtime.faults.heal("RemoveContainer"));
    h.delete(uid, 1);
    await h.pass(10);
    assert.deepEqual(await h.runtime.listPodSandboxes(), []);
  });
});

test("the restart count never decreases, even if the container that counted last was created, never started, and removed", () =>
  on({}, async (h) => {
    const startedPod = h.run(pod);
    await h.pass(5);
    const cache = { uid, name: "a", namespace: "default", sandboxes: [], containers: [] };
    const before = { ...h.status(uid).containerStatuses![0]!, restartCount: 2 };
    const runtimeLabels = { restartCount: 1, hash: "" };
    const ended = {
      id: "i",
      name: "main",
      sandboxId: "s",
      state: "exited",
      createdAt: 0,
      startedAt: 0,
      finishedAt: 0,
      exitCode: 1,
      reason: "Error",
      message: "",
      runtimeLabels,
    };
    const observed = {
      ...cache,
      containers: [{ ...ended, image: "", imageId: "", logPath: "" }],
    } as unknown as ObservedPod;
    const facts = {
      runtimeName: "fake",
      observed,
      old: [before],
      startErrors: new Map(),
      kind: "ordinary",
    } as const;
    assert.deepEqual(
      containerStatuses(startedPod, startedPod.spec.containers ?? [], facts).map(
        ({ restartCount }) => restartCount,
      ),
      [2],
    );
  }));
