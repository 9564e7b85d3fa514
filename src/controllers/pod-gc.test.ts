import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { virtualClock } from "#base";
import { kinds } from "#client";
import { gone, until, withController } from "./cluster.fixture.ts";
import { decide, podGcController } from "./pod-gc.ts";

type Parts = { node?: string; phase?: string; deleted?: boolean; created?: string };
const pod = (
  name: string,
  { node, phase = "Running", deleted, created = "2024-01-01T00:00:00Z" }: Parts = {},
): Pod =>
  ({
    metadata: { name, creationTimestamp: created, ...(deleted && { deletionTimestamp: created }) },
    spec: { ...(node && { nodeName: node }) },
    status: { phase },
  }) as unknown as Pod;

const cases: [
  name: string,
  pods: Pod[],
  missing: Record<string, number>,
  mostOver: number,
  expected: string[],
][] = [
  ["pods of present nodes stay", [pod("a", { node: "here" })], {}, 9, []],
  ["pods of nodes that have just gone stay", [pod("a", { node: "lost" })], { lost: 60_001 }, 9, []],
  ["pods of nodes that stay away go", [pod("a", { node: "lost" })], { lost: 60_000 }, 9, ["a orphaned"]],
  ["pods without a node wait for one", [pod("a")], {}, 9, []],
  ["pods without a node that are to go, go", [pod("a", { deleted: true })], {}, 9, ["a never placed"]],
  ["pods that are over stay", [pod("a", { node: "here", phase: "Failed" })], {}, 9, []],
  [
    "of too many pods that are over the oldest go",
    [
      pod("new", { node: "here", phase: "Succeeded", created: "2024-01-03T00:00:00Z" }),
      pod("old", { node: "here", phase: "Failed" }),
      pod("runs", { node: "here" }),
    ],
    {},
    1,
    ["old over"],
  ],
];
for (const [name, pods, missing, mostOver, expected] of cases) {
  test(name, () => {
    const found = decide(pods, {
      nodes: new Set(["here"]),
      missingSince: new Map(Object.entries(missing)),
      now: 100_000,
      mostOver,
    });
    // prettier-ignore
    assert.deepEqual(found.map(({ pod: { metadata }, why }) => `${metadata.name} ${why}`), expected);
  });
}

test("pods of a deleted node are failed and removed, after a while", { timeout: 20_000 }, async () => {
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
        return await gone(pods.get("b", { namespace: "default" }));
      });
      assert.equal((await pods.get("a", { namespace: "default" })).metadata.deletionTimestamp, undefined);
    },
    clock,
  );
});
