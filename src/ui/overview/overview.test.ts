import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node, Pod, TimelineEntry } from "../api/wire.ts";
import { nodeProblems, podProblems, ranked, warningProblems } from "./problems.ts";
import { bytesText, coresText, quantity } from "./quantity.ts";

const created = "2026-01-01T00:00:00Z";
const now = Date.parse("2026-01-01T01:00:00Z");
const pod = (name: string, status: Pod["status"], metadata: Partial<Pod["metadata"]> = {}): Pod => ({
  metadata: { name, namespace: "shop", uid: name, creationTimestamp: created, ...metadata },
  spec: { containers: [{ name: "app" }] },
  status,
});
const container = (waiting?: { reason?: string; message?: string }, more = {}) => ({
  name: "app",
  ready: false,
  restartCount: 4,
  ...(waiting && { state: { waiting } }),
  ...more,
});

const cases: [name: string, status: Pod["status"], what: string | undefined, why?: RegExp][] = [
  ["a running pod is fine", { phase: "Running", conditions: [{ type: "Ready", status: "True" }] }, undefined],
  ["a finished pod is fine", { phase: "Succeeded" }, undefined],
  [
    "a starting pod is fine",
    { phase: "Pending", containerStatuses: [container({ reason: "ContainerCreating" })] },
    undefined,
  ],
  [
    "a crash loop is reported with the container's exit",
    {
      phase: "Running",
      containerStatuses: [
        container(
          { reason: "CrashLoopBackOff", message: "back-off 40s" },
          { lastState: { terminated: { reason: "Error", exitCode: 3 } } },
        ),
      ],
    },
    "CrashLoopBackOff",
    /container app, 4 restarts; it ended with Error 3: back-off 40s/,
  ],
  [
    "an image that cannot be pulled",
    { phase: "Pending", containerStatuses: [container({ reason: "ImagePullBackOff" })] },
    "ImagePullBackOff",
  ],
  [
    "a pod without a node, with the scheduler's reason",
    {
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }],
    },
    "Unschedulable",
    /0\/1 nodes/,
  ],
  ["an evicted pod", { phase: "Failed", reason: "Evicted", message: "low on memory" }, "Evicted", /memory/],
  ["a failed pod", { phase: "Failed" }, "Failed"],
  [
    "a pod that is not ready for long",
    {
      phase: "Running",
      conditions: [{ type: "Ready", status: "False", message: "app not ready", lastTransitionTime: created }],
    },
    "NotReady",
  ],
  [
    "a pod that is not ready yet",
    {
      phase: "Running",
      conditions: [
        { type: "Ready", status: "False", lastTransitionTime: new Date(now - 1000).toISOString() },
      ],
    },
    undefined,
  ],
];
for (const [name, status, what, why] of cases)
  test(`${name}: ${what ?? "no problem"}`, () => {
    const [problem] = podProblems([pod("a", status)], now);
    assert.equal(problem?.what, what);
    if (why) assert.match(problem!.why, why);
  });

test("a pod that is being deleted is not a problem", () => {
  assert.deepEqual(podProblems([pod("a", { phase: "Failed" }, { deletionTimestamp: created })], now), []);
});

test("pods of one owner with one problem are one line", () => {
  const ownerReferences = [{ kind: "ReplicaSet", name: "web", uid: "web" }];
  const status = { phase: "Pending", containerStatuses: [container({ reason: "ErrImagePull" })] };
  const [problem, ...others] = podProblems(
    [
      pod("b", status, { ownerReferences, creationTimestamp: "2026-01-01T00:30:00Z" }),
      pod("a", status, { ownerReferences }),
    ],
    now,
  );
  assert.equal(problem!.count, 2);
  assert.equal(problem!.object.name, "a");
  assert.equal(others.length, 0);
});

test("a node that is not ready or under pressure is a problem", () => {
  const node = {
    metadata: { name: "n", uid: "n", creationTimestamp: created },
    spec: {},
    status: {
      conditions: [
        { type: "Ready", status: "Unknown", message: "no heartbeat" },
        { type: "MemoryPressure", status: "True" },
        { type: "DiskPressure", status: "False" },
      ],
    },
  } satisfies Node;
  assert.deepEqual(
    nodeProblems(node).map(({ what }) => what),
    ["Node not ready", "MemoryPressure"],
  );
});

test("failing probes are one problem per pod, since their first failure", () => {
  const entry = (time: string, reason = "Unhealthy") =>
    ({ reason, note: "probe failed", object: { kind: "Pod", name: "a", uid: "a" }, time }) as TimelineEntry;
  const found = warningProblems(
    [entry("2026-01-01T00:02:00Z"), entry("2026-01-01T00:01:00Z"), entry(created, "BackOff")],
    new Set(["Unhealthy"]),
  );
  assert.deepEqual(
    found.map(({ what, since }) => [what, since]),
    [["Unhealthy", Date.parse("2026-01-01T00:01:00Z")]],
  );
});

test("problems of nodes come first, then those that keep containers from running", () => {
  const of = (kind: string, what: string, uid: string, count = 1) => ({
    what,
    why: "",
    object: { kind, name: uid, uid },
    since: 0,
    count,
  });
  const order = ranked([
    of("Pod", "Unhealthy", "a"),
    of("Pod", "ErrImagePull", "b", 1),
    of("Pod", "CrashLoopBackOff", "c", 3),
    of("Node", "x", "n"),
    of("Node", "x", "n"),
  ]);
  assert.deepEqual(
    order.map(({ object }) => object.uid),
    ["n", "c", "b", "a"],
  );
});

test("quantities are parsed and formatted", () => {
  assert.deepEqual(["1930m", "15Gi", "250000000n", "2", "1e3", "x", undefined].map(quantity), [
    1.93,
    15 * 2 ** 30,
    0.25,
    2,
    1000,
    Number.NaN,
    Number.NaN,
  ]);
  assert.deepEqual(
    [coresText(1.234), coresText(64), bytesText(1.5 * 2 ** 30), bytesText(2 ** 20)],
    ["1.2", "64", "1.5 GiB", "1 MiB"],
  );
});
