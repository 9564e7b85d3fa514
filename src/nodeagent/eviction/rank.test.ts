import assert from "node:assert/strict";
import { test } from "node:test";
import { type Sketch, measuredPod } from "./eviction.fixture.ts";
import { rank } from "./rank.ts";
import type { Signal } from "./thresholds.ts";

const cases: [name: string, signal: Signal, isSplit: boolean, pods: readonly Sketch[]][] = [
  [
    "a pod above its request is evicted before one below it, however large",
    "memory.available",
    false,
    [
      { name: "over", memory: "10Mi", workingSet: "20Mi", priority: 100 },
      { name: "under", memory: "1Gi", workingSet: "900Mi" },
    ],
  ],
  [
    "of pods above their requests, the lower priority is evicted first, then the larger excess",
    "memory.available",
    false,
    [
      { name: "low", memory: "10Mi", workingSet: "20Mi" },
      { name: "far", memory: "10Mi", workingSet: "900Mi", priority: 5 },
      { name: "near", memory: "10Mi", workingSet: "90Mi", priority: 5 },
    ],
  ],
  [
    "usage equal to the request does not exceed it",
    "memory.available",
    false,
    [
      { name: "over", memory: "10Mi", workingSet: "11Mi", priority: 9 },
      { name: "equal", memory: "100Mi", workingSet: "100Mi" },
    ],
  ],
  [
    "process counts: by priority, then by count",
    "pid.available",
    false,
    [
      { name: "low", priority: -1, processes: 1 },
      { name: "many", processes: 50 },
      { name: "few", processes: 5, workingSet: "9Gi" },
    ],
  ],
  [
    "on a dedicated image disk only layers count",
    "imagefs.available",
    true,
    [
      { name: "layer", rootfs: "50Mi" },
      { name: "volume", rootfs: "2Mi", volume: "600Mi" },
      { name: "logs", rootfs: "1Mi", logs: "550Mi" },
    ],
  ],
  [
    "on the node's disk layers do not count if there is a dedicated image disk",
    "nodefs.available",
    true,
    [
      { name: "logs", logs: "5Mi" },
      { name: "layer", rootfs: "9Gi", logs: "1Mi" },
    ],
  ],
  [
    "inodes count for the inode signal",
    "nodefs.inodesFree",
    false,
    [
      { name: "many", inodes: 1000 },
      { name: "few", inodes: 10, rootfs: "9Gi" },
    ],
  ],
];
for (const [name, signal, isSplit, pods] of cases)
  test(name, () => {
    const order = rank(signal, pods.toReversed().map(measuredPod), isSplit);
    assert.deepEqual(
      order.map(({ pod }) => pod.metadata.name),
      pods.map((pod) => pod.name),
    );
  });

test("a pod without usage data is evicted first", () => {
  const known = measuredPod({ name: "known", workingSet: "9Gi" });
  const unknown = { ...measuredPod({ name: "unknown" }), usage: undefined };
  assert.deepEqual(rank("memory.available", [known, unknown], false), [unknown, known]);
});
