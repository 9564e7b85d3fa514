import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodStatus } from "#api";
import { silentLog } from "#base";
import { dialects } from "#dialect";
import { type Harness, on } from "../harness.fixture.ts";
import type { PodAdmission, PodCgroups } from "../interfaces.ts";
import { openAllocations } from "./allocations.ts";
import { podResize } from "./pod-resize.ts";

type Amounts = Record<string, string>;
interface Resources {
  requests: Amounts;
  limits?: Amounts;
}
const cpu = { quota: true, periodMicroseconds: 100_000 };
const small: Resources = {
  requests: { cpu: "100m", memory: "64Mi" },
  limits: { cpu: "200m", memory: "128Mi" },
};
const large: Resources = {
  requests: { cpu: "500m", memory: "128Mi" },
  limits: { cpu: "1", memory: "256Mi" },
};
const policy = (restartPolicy: string) => [
  { resourceName: "cpu", restartPolicy: "NotRequired" },
  { resourceName: "memory", restartPolicy },
];
const pod = (resources: Resources, restartPolicy = "NotRequired") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: {
    containers: [{ name: "c", image: "busybox:1", resources, resizePolicy: policy(restartPolicy) }],
  },
});
const uid = "uid-of-p";

interface Node {
  readonly h: Harness;
  /** Runtime calls and changes of the pod's cgroup, in order. */
  readonly acts: string[];
  readonly file: () => string;
}

/** Runs a test with a small pod on a node whose admission the test controls. */
async function resizing(
  play: (node: Node) => Promise<void>,
  admission: PodAdmission = { admit: () => ({ ok: true }) },
): Promise<void> {
  let file = "";
  const store = {
    read: () => Promise.resolve(file === "" ? undefined : file),
    write: (_name: string, text: string) => {
      file = text;
      return Promise.resolve();
    },
  };
  const allocations = await openAllocations({ store, fileName: "state", log: silentLog });
  const resize = podResize({
    dialect: dialects.orch,
    allocations,
    admission: () => admission,
    allocatable: () => ({ cpu: "2", memory: "4Gi" }),
    cpu,
  });
  const acts: string[] = [];
  const cgroups: PodCgroups = {
    ensure: () => Promise.resolve("/pods/p"),
    resize: (_pod, resource, when) => Promise.resolve(void acts.push(`${resource} ${when}`)),
    release: () => Promise.resolve(),
    podUids: () => Promise.resolve(new Set()),
  };
  const programs = { c: ({ forever }: { forever: () => Promise<number> }) => forever() };
  await on(
    {
      runtime: { programs },
      admission,
      parts: { resize, contributors: [resize.contributor], cgroups },
    },
    async (h) => {
      h.run(pod(small));
      await h.pass(3);
      assert.equal(h.status(uid).phase, "Running");
      await play({ h, acts, file: () => file });
    },
  );
}

const updates = (h: Harness): unknown[] =>
  h.runtime.calls
    .filter(({ method }) => method === "UpdateContainerResources")
    .map(({ request }) => {
      const { linux } = request as { linux: Record<string, unknown> };
      return [linux["cpuShares"], linux["cpuQuota"], linux["memoryLimitInBytes"]];
    });
const starts = (h: Harness): number =>
  h.runtime.calls.filter(({ method }) => method === "StartContainer").length;
const only = ({ containerStatuses }: PodStatus) => containerStatuses![0]!;
const resizeStatuses = (h: Harness): (string | undefined)[] =>
  h.statuses.get(uid)!.map(({ resize }) => resize);

test("a pod's status shows its allocated resources", () =>
  resizing(async ({ h, file }) => {
    const { allocatedResources, resources } = only(h.status(uid));
    assert.deepEqual([allocatedResources, resources], [small.requests, small]);
    assert.deepEqual((JSON.parse(file()) as { allocationEntries: object }).allocationEntries, {
      [uid]: { c: small.requests },
    });
  }));

test("a container grows without restart: memory before CPU, the pod cgroup before the container", () =>
  resizing(async ({ h, acts }) => {
    h.run(pod(large));
    await h.pass(3);
    assert.deepEqual(updates(h), [
      [102, 20_000, 256 * 1024 ** 2],
      [512, 100_000, 256 * 1024 ** 2],
    ]);
    assert.deepEqual(acts, ["memory before", "memory after", "cpu before", "cpu after"]);
    assert.equal(starts(h), 1);
    const status = h.status(uid);
    assert.deepEqual([only(status).allocatedResources, only(status).resources], [large.requests, large]);
    assert.deepEqual([only(status).restartCount, status.resize], [0, undefined]);
    assert.ok(resizeStatuses(h).includes("InProgress"));
  }));

test("a container with resizePolicy RestartContainer is restarted with the new size", () =>
  resizing(async ({ h, acts }) => {
    h.delete(uid, 0);
    await h.pass(3);
    h.run({ ...pod(small, "RestartContainer"), metadata: { name: "q" } });
    await h.pass(3);
    h.run({ ...pod(large, "RestartContainer"), metadata: { name: "q" } });
    await h.pass(40);
    assert.deepEqual(updates(h), []);
    const status = h.status("uid-of-q");
    assert.deepEqual(
      [only(status).restartCount, only(status).resources, status.resize],
      [1, large, undefined],
    );
    assert.deepEqual(acts, ["memory before", "memory after", "cpu before", "cpu after"]);
    assert.ok(h.events.some(({ message }) => message.includes("Container c resize requires restart")));
  }));

test("an infeasible resize is not attempted", () =>
  resizing(async ({ h }) => {
    h.run(pod({ requests: { cpu: "3", memory: "64Mi" }, limits: { cpu: "3", memory: "128Mi" } }));
    await h.pass(10);
    const status = h.status(uid);
    assert.deepEqual([status.resize, updates(h), starts(h)], ["Infeasible", [], 1]);
    assert.deepEqual([only(status).allocatedResources, only(status).resources], [small.requests, small]);
  }));

test("a deferred resize is retried", () => {
  let isFull = false;
  const admission: PodAdmission = {
    admit: () => (isFull ? { ok: false, reason: "OutOfcpu", message: "full" } : { ok: true }),
  };
  return resizing(async ({ h, file }) => {
    isFull = true;
    h.run(pod(large));
    await h.pass(3);
    assert.equal(h.status(uid).resize, "Deferred");
    assert.deepEqual((JSON.parse(file()) as { resizeStatusEntries: object }).resizeStatusEntries, {
      [uid]: "Deferred",
    });
    isFull = false;
    await h.pass(8);
    assert.deepEqual([h.status(uid).resize, only(h.status(uid)).resources], [undefined, large]);
  }, admission);
});

test("any other change still requires a new container", () =>
  resizing(async ({ h }) => {
    const changed = pod(large);
    h.run({
      ...changed,
      spec: { containers: [{ ...changed.spec.containers[0]!, image: "busybox:1", args: ["x"] }] },
    });
    await h.pass(40);
    assert.equal(only(h.status(uid)).restartCount, 1);
  }));

test("a removed pod leaves nothing in the state file", () =>
  resizing(async ({ h, file }) => {
    h.delete(uid, 0);
    await h.pass(3);
    assert.deepEqual(JSON.parse(file()), { checksum: 670531192 });
  }));
