import assert from "node:assert/strict";
import { test } from "node:test";
import { timeOfMillis } from "#base";
import type { SeenPod } from "../pods.ts";
import type { SeenDaemonSet } from "./nodes.ts";
import { planUpdate } from "./update.ts";

const now = Date.UTC(2024, 0, 1);
type Strategy = { maxUnavailable?: number | string; maxSurge?: number | string };

const setWith = (rollingUpdate: Strategy): SeenDaemonSet =>
  ({
    metadata: { name: "d", annotations: {} },
    spec: { minReadySeconds: 0, updateStrategy: { type: "RollingUpdate", rollingUpdate } },
  }) as unknown as SeenDaemonSet;

/**
 * `old+` is an outdated pod that is ready, `new-` an updated one that is not, `old~` one that is terminating.
 */
function podOf(text: string, node: string): SeenPod {
  const [, hash, state] = /^(old|new)([-+~])$/.exec(text)!;
  return {
    metadata: {
      name: `${node}-${hash}`,
      uid: `${node}-${hash}`,
      labels: { "controller-revision-hash": hash },
      ...(state === "~" && { deletionTimestamp: timeOfMillis(now) }),
    },
    spec: { nodeName: node },
    status: {
      phase: "Running",
      conditions: [
        {
          type: "Ready",
          status: state === "-" ? "False" : "True",
          lastTransitionTime: timeOfMillis(now - 60_000),
        },
      ],
    },
  } as unknown as SeenPod;
}

const plans: [name: string, strategy: Strategy, nodes: string[], remove: string[], create: string[]][] = [
  ["one pod is deleted at a time", { maxUnavailable: 1 }, ["old+", "old+", "old+"], ["n0-old"], []],
  [
    "a percentage of the nodes is rounded up",
    { maxUnavailable: "34%" },
    ["old+", "old+", "old+"],
    ["n0-old", "n1-old"],
    [],
  ],
  ["maxUnavailable 0 still allows one", { maxUnavailable: 0 }, ["old+", "old+"], ["n0-old"], []],
  ["new pods that are not ready use up the limit", { maxUnavailable: 2 }, ["new-", "new-", "old+"], [], []],
  ["a node whose pod was just deleted uses it up", { maxUnavailable: 2 }, ["new-", "", "old+"], [], []],
  ["a terminating pod uses it up", { maxUnavailable: 1 }, ["old~", "old+"], [], []],
  [
    "unavailable old pods are deleted regardless of the limit",
    { maxUnavailable: 1 },
    ["new-", "old-", "old+"],
    ["n1-old"],
    [],
  ],
  ["two pods on a node use it up", { maxUnavailable: 1 }, ["old+ new+", "old+"], [], []],
  ["a second pod is created first", { maxSurge: 1 }, ["old+", "old+"], [], ["n0"]],
  [
    "the old pod is deleted when the new one is available",
    { maxSurge: 1 },
    ["old+ new+", "old+"],
    ["n0-old"],
    ["n1"],
  ],
  ["a second pod that is not ready uses up the surge", { maxSurge: 1 }, ["old+ new-", "old+"], [], []],
  ["unavailable old pods get a second one immediately", { maxSurge: 1 }, ["old+ new-", "old-"], [], ["n1"]],
];
for (const [name, strategy, nodes, remove, create] of plans)
  test(`of a daemon set's update ${name}`, () => {
    const podsByNode = new Map(
      nodes.map((text, index) => [
        `n${index}`,
        text.split(" ").flatMap((each) => (each === "" ? [] : [podOf(each, `n${index}`)])),
      ]),
    );
    const facts = { hash: "new", podsByNode, desired: nodes.length, shouldRun: () => true, now };
    const plan = planUpdate({ ...facts, set: setWith(strategy) });
    assert.deepEqual(
      plan.remove.map(({ metadata }) => metadata.name),
      remove,
    );
    assert.deepEqual(plan.createOn, create);
  });

test("a pod on a node that should not run one is deleted once enough others are available", () => {
  const podsByNode = new Map(["a", "b"].map((node) => [node, [podOf("old+", node)]]));
  const facts = { set: setWith({ maxSurge: 1 }), hash: "old", podsByNode, now };
  const other = { ...facts, hash: "new", shouldRun: (node: string) => node === "a" };
  assert.deepEqual(
    planUpdate({ ...other, desired: 1 }).remove.map(({ metadata }) => metadata.name),
    ["b-old"],
  );
  assert.deepEqual(planUpdate({ ...other, desired: 2 }).remove, []);
});
