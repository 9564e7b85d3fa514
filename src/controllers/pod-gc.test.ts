import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { virtualClock } from "#base";
import { kinds } from "#client";
import { dialects } from "#dialect";
import { isDeleted, until, withController } from "./cluster.fixture.ts";
import { decide, podGcController } from "./pod-gc.ts";

type Parts = { node?: string; phase?: string; reason?: string; deleted?: boolean; created?: string };
const pod = (
  name: string,
  { node, phase = "Running", reason, deleted, created = "2024-01-01T00:00:00Z" }: Parts = {},
): Pod =>
  ({
    metadata: { name, creationTimestamp: created, ...(deleted && { deletionTimestamp: created }) },
    spec: { ...(node && { nodeName: node }) },
    status: { phase, ...(reason && { reason }) },
  }) as unknown as Pod;

const cases: [
  name: string,
  pods: Pod[],
  missing: Record<string, number>,
  maxFinished: number,
  expected: string[],
][] = [
  ["pods of present nodes are kept", [pod("a", { node: "here" })], {}, 9, []],
  ["pods of recently deleted nodes are kept", [pod("a", { node: "lost" })], { lost: 60_001 }, 9, []],
  [
    "pods of nodes missing for longer are deleted",
    [pod("a", { node: "lost" })],
    { lost: 60_000 },
    9,
    ["a orphaned"],
  ],
  ["unscheduled pods are kept", [pod("a")], {}, 9, []],
  ["terminating unscheduled pods are deleted", [pod("a", { deleted: true })], {}, 9, ["a unscheduled"]],
  ["finished pods are kept", [pod("a", { node: "here", phase: "Failed" })], {}, 9, []],
  [
    "of too many finished pods the oldest are deleted",
    [
      pod("new", { node: "here", phase: "Succeeded", created: "2024-01-03T00:00:00Z" }),
      pod("old", { node: "here", phase: "Failed" }),
      pod("runs", { node: "here" }),
    ],
    {},
    1,
    ["old finished"],
  ],
  [
    "evicted pods are deleted first",
    [
      pod("old", { node: "here", phase: "Failed" }),
      pod("b", { node: "here", phase: "Failed", reason: "Evicted", created: "2024-01-03T00:00:00Z" }),
      pod("a", { node: "here", phase: "Failed", reason: "Evicted", created: "2024-01-03T00:00:00Z" }),
    ],
    {},
    1,
    ["a finished", "b finished"],
  ],
];
for (const [name, pods, missing, maxFinished, expected] of cases) {
  test(name, () => {
    const found = decide(pods, {
      nodes: new Set(["here"]),
      missingSince: new Map(Object.entries(missing)),
      now: 100_000,
      maxFinished,
    });
    // prettier-ignore
    assert.deepEqual(found.map(({ pod: { metadata }, reason: why }) => `${metadata.name} ${why}`), expected);
  });
}

test("pods of a deleted node are marked as failed and deleted after a while", async () => {
  const clock = virtualClock(Date.now());
  await withController(
    podGcController,
    async ({ client }) => {
      const pods = client.of(kinds.pods);
      await client.of(kinds.nodes).create({ metadata: { name: "n1" }, spec: {} });
      // prettier-ignore
      for (const [name, nodeName] of [["a", "n1"], ["b", "n2"]]) await pods.create({ metadata: { name, namespace: "default" }, spec: { nodeName, containers: [{ name: "c", image: "i" }] } } as never);
      await until(async () => {
        await clock.advance(20_000);
        return await isDeleted(pods.get("b", { namespace: "default" }));
      });
      assert.equal((await pods.get("a", { namespace: "default" })).metadata.deletionTimestamp, undefined);
    },
    clock,
  );
});

test("pods of a deleted node are deleted after forty seconds, not at a later round", async () => {
  const clock = virtualClock(Date.now());
  await withController(
    podGcController,
    async ({ client }) => {
      const pods = client.of(kinds.pods);
      await client.of(kinds.nodes).create({ metadata: { name: "n1" }, spec: {} });
      const spec = { nodeName: "n1", containers: [{ name: "c", image: "i" }] };
      await pods.create({ metadata: { name: "a", namespace: "default" }, spec } as never);
      for (let seconds = 0; seconds < 15; seconds++) await clock.advance(1000);
      await client.of(kinds.nodes).delete("n1");
      const removed = clock.now();
      await until(async () => {
        await clock.advance(200);
        return await isDeleted(pods.get("a", { namespace: "default" }));
      });
      const seconds = (clock.now() - removed) / 1000;
      assert.ok(seconds >= 40 && seconds < 50, `after ${seconds} s`);
    },
    clock,
  );
});

/** Returns the pod as left by the collector, kept only by a finalizer. */
async function failedPod(taints: object[], nodeName: string | undefined, isGone: boolean): Promise<Pod> {
  const clock = virtualClock(Date.now());
  let found: Pod | undefined;
  await withController(
    podGcController,
    async ({ client }) => {
      const pods = client.of(kinds.pods);
      if (!isGone)
        await client.of(kinds.nodes).create({ metadata: { name: "n1" }, spec: { taints } } as never);
      const spec = { ...(nodeName && { nodeName }), containers: [{ name: "c", image: "i" }] };
      await pods.create({
        metadata: { name: "a", namespace: "default", finalizers: ["test.io/keep"] },
        spec,
      } as never);
      if (!isGone) await pods.delete("a", { namespace: "default", graceSeconds: 30 });
      found = await until(async () => {
        await clock.advance(20_000);
        const pod = await pods.get("a", { namespace: "default" });
        return pod.status.phase === "Failed" && pod;
      });
      await pods.patch("a", "merge", { metadata: { finalizers: null } }, { namespace: "default" });
    },
    clock,
  );
  return found!;
}

const outOfService = {
  key: dialects.orch.names.taints.outOfService,
  value: "nodeshutdown",
  effect: "NoExecute",
};
const failed: [
  name: string,
  taints: object[],
  nodeName: string | undefined,
  isGone: boolean,
  reasons: string[],
][] = [
  [
    "a pod of a deleted node fails with a condition that states the reason",
    [],
    "n1",
    true,
    ["DeletionByPodGC"],
  ],
  ["a pod of an out-of-service node fails without a condition", [outOfService], "n1", false, []],
  ["an unscheduled pod fails without a condition", [], undefined, false, []],
];
for (const [name, taints, nodeName, isGone, reasons] of failed)
  test(name, async () => {
    const { status } = await failedPod(taints, nodeName, isGone);
    const found = (status.conditions ?? []).filter(({ type }) => type === "DisruptionTarget");
    assert.deepEqual(
      found.map(({ reason }) => reason),
      reasons,
    );
  });

test("an unscheduled pod is deleted at the next round, not at once", async () => {
  const clock = virtualClock(Date.now());
  await withController(
    podGcController,
    async ({ client }) => {
      const pods = client.of(kinds.pods);
      const metadata = { name: "a", namespace: "default", finalizers: ["test.io/keep"] };
      await pods.create({ metadata, spec: { containers: [{ name: "c", image: "i" }] } } as never);
      // The first round is over once its delay has started.
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(19_000);
      await pods.delete("a", { namespace: "default", graceSeconds: 30 });
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
      const phase = async () => (await pods.get("a", { namespace: "default" })).status.phase;
      assert.equal(await phase(), "Pending");
      await until(async () => {
        await clock.advance(1000);
        return (await phase()) === "Failed";
      });
      await pods.patch("a", "merge", { metadata: { finalizers: null } }, { namespace: "default" });
    },
    clock,
  );
});
