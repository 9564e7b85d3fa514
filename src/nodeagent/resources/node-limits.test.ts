import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import type { CgroupLimits, CgroupTree } from "./cgroup-tree.ts";
import { limitsOf, nodeLimits } from "./node-limits.ts";

/** Sets up a cgroup tree that rejects the given number of limits before it accepts one. */
function setUp(refusals: number, exists = true) {
  const clock = virtualClock(0);
  const recorded: string[] = [];
  const taken: [group: string, limits: CgroupLimits][] = [];
  const tree = {
    exists: async () => exists,
    limit: async (group: string, limits: CgroupLimits) => {
      if (refusals-- > 0) throw new Error("device or resource busy");
      taken.push([group, limits]);
    },
  } as unknown as CgroupTree;
  const events = {
    event: (_: unknown, type: string, reason: string, message: string) =>
      void recorded.push(`${type} ${reason} ${message}`),
  };
  return {
    clock,
    recorded,
    taken,
    limits: nodeLimits({ tree, clock, log: silentLog, events, nodeName: "n1" }),
  };
}

const refused = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("resource amounts of a node are converted to cgroup limits", () => {
  assert.deepEqual(limitsOf({ cpu: "3500m", memory: "1Gi", pid: "1000" }), {
    cpuShares: 3584,
    memoryBytes: 1024 ** 3,
    pids: 1000,
  });
  assert.deepEqual(limitsOf({}), {});
});

test("the node allocatable limit is enforced as soon as usage permits", async () => {
  const { clock, recorded, taken, limits } = setUp(1);
  const held = limits.limitPods("/top/pods", { cpu: "2" }, new AbortController().signal);
  await refused();
  await clock.advance(59_000);
  assert.deepEqual(recorded, [
    'Warning FailedNodeAllocatableEnforcement Failed to update Node Allocatable Limits ["top" "pods"]: device or resource busy',
  ]);
  await clock.advance(1000);
  await held;
  assert.deepEqual(taken, [["/top/pods", { cpuShares: 2048 }]]);
  assert.equal(recorded[1], "Normal NodeAllocatableEnforced Updated Node Allocatable limit across pods");
});

test("retries stop when the agent stops", async () => {
  const { taken, limits } = setUp(1);
  const stopping = new AbortController();
  const held = limits.limitPods("/pods", {}, stopping.signal);
  await refused();
  stopping.abort(new Error("stopped"));
  await held;
  assert.deepEqual(taken, []);
});

const reserved: [
  name: string,
  refusals: number,
  exists: boolean,
  expected: string,
  refused: RegExp | undefined,
][] = [
  [
    "a reserved group is limited",
    0,
    true,
    "Normal NodeAllocatableEnforced Updated limits on system reserved cgroup /sys",
    undefined,
  ],
  [
    "a missing reserved group is an error",
    0,
    false,
    'Warning FailedNodeAllocatableEnforcement Failed to enforce System Reserved Cgroup Limits on "/sys": the control',
    /\/sys does not exist/,
  ],
  [
    "a reserved group that cannot be limited is an error",
    1,
    true,
    'Warning FailedNodeAllocatableEnforcement Failed to enforce System Reserved Cgroup Limits on "/sys": device',
    /busy/,
  ],
];
for (const [name, refusals, exists, expected, refused] of reserved) {
  test(name, async () => {
    const { recorded, limits } = setUp(refusals, exists);
    const held = limits.limitReserved("system reserved", "/sys", { memory: "1Gi" });
    await (refused ? assert.rejects(held, refused) : held);
    assert.equal(recorded.length, 1);
    assert.equal(recorded[0]!.slice(0, expected.length), expected);
  });
}
