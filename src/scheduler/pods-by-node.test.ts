import assert from "node:assert/strict";
import { test } from "node:test";
import { type SeenPod, podsByNode } from "./pods-by-node.ts";

const pod = (uid: string, nodeName?: string, phase = "Running"): SeenPod =>
  ({
    metadata: { name: "web", namespace: "default", uid },
    spec: { ...(nodeName && { nodeName }) },
    status: { phase },
  }) as unknown as SeenPod;

const cases: [
  name: string,
  happens: (pods: ReturnType<typeof podsByNode>) => void,
  onA: string[],
  onB: string[],
][] = [
  ["a pod without a node is nowhere", (pods) => pods.see({ type: "added", object: pod("1") }), [], []],
  ["a pod is on its node", (pods) => pods.see({ type: "added", object: pod("1", "a") }), ["1"], []],
  ["a pod that is sent to a node counts there at once", (pods) => pods.assume(pod("1"), "a"), ["1"], []],
  [
    "what the server says counts more than what was assumed",
    (pods) => (
      pods.assume(pod("1"), "a"),
      pods.see({ type: "updated", object: pod("1", "b"), old: pod("1") })
    ),
    [],
    ["1"],
  ],
  [
    "a pod that could not be sent is nowhere again",
    (pods) => (pods.assume(pod("1"), "a"), pods.forget(pod("1"))),
    [],
    [],
  ],
  [
    "a deleted pod leaves the others of its node",
    (pods) => (
      pods.assume(pod("1"), "a"),
      pods.assume(pod("2"), "a"),
      pods.see({ type: "deleted", object: pod("1", "a") })
    ),
    ["2"],
    [],
  ],
  [
    "a pod that is over takes no room",
    (pods) => (
      pods.assume(pod("1"), "a"),
      pods.see({ type: "updated", object: pod("1", "a", "Succeeded"), old: pod("1", "a") })
    ),
    [],
    [],
  ],
  [
    "a successor of the same name is another pod",
    (pods) => (pods.assume(pod("1"), "a"), pods.see({ type: "added", object: pod("2", "b") })),
    ["1"],
    ["2"],
  ],
];
for (const [name, happens, onA, onB] of cases) {
  test(name, () => {
    const pods = podsByNode();
    happens(pods);
    const uids = (node: string) => pods.of(node).map(({ metadata }) => metadata.uid);
    assert.deepEqual([uids("a"), uids("b")], [onA, onB]);
    assert.equal(pods.has(pod("1")), [...onA, ...onB].includes("1"));
  });
}
