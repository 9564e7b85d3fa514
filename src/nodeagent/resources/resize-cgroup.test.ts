import assert from "node:assert/strict";
import { test } from "node:test";
import type { CgroupLimits, CgroupTree } from "./cgroup-tree.ts";
import { resizeCgroup } from "./resize-cgroup.ts";

type Files = Readonly<Record<string, string>>;

/** Returns the limits set on a group with these files, before and after. */
async function set(
  files: Files,
  limits: CgroupLimits,
  resource: "cpu" | "memory",
  when: "before" | "after",
): Promise<readonly CgroupLimits[]> {
  const done: CgroupLimits[] = [];
  const version = "memory.max" in files || "cpu.max" in files ? 2 : 1;
  const tree = {
    mounts: { version },
    read: (_name: string, _controller: string, file: string) => Promise.resolve(files[file]),
    limit: (_name: string, given: CgroupLimits) => Promise.resolve(void done.push(given)),
  } as unknown as CgroupTree;
  await resizeCgroup(tree, "/pod", { limits, resource, when });
  return done;
}

const memory = (limit: string, used = "10"): Files => ({
  "memory.limit_in_bytes": limit,
  "memory.usage_in_bytes": used,
});
const none = "9223372036854771712";
const memoryCases: [
  name: string,
  files: Files,
  bytes: number | undefined,
  set: [CgroupLimits[], CgroupLimits[]],
][] = [
  ["more memory is set before", memory("100"), 200, [[{ memoryBytes: 200 }], []]],
  ["less memory is set after", memory("100"), 50, [[], [{ memoryBytes: 50 }]]],
  ["the same memory is not set", memory("100"), 100, [[], []]],
  ["a first limit is less than unlimited", memory(none), 100, [[], [{ memoryBytes: 100 }]]],
  ["an absent limit is greater than any other", memory("100"), undefined, [[{ memoryBytes: -1 }], []]],
  [
    "cgroup v2 reports an absent limit as max",
    { "memory.max": "max\n", "memory.current": "10" },
    100,
    [[], [{ memoryBytes: 100 }]],
  ],
];
for (const [name, files, bytes, expected] of memoryCases)
  test(name, async () => {
    const limits = bytes === undefined ? {} : { memoryBytes: bytes };
    const found = [await set(files, limits, "memory", "before"), await set(files, limits, "memory", "after")];
    assert.deepEqual(found, expected);
  });

test("a memory limit below current usage is rejected", async () => {
  await assert.rejects(
    set(memory("100", "80"), { memoryBytes: 60 }, "memory", "before"),
    /less than current memory usage/,
  );
});

test("CPU quota and shares each grow before and shrink after", async () => {
  const files = { "cpu.cfs_quota_us": "20000", "cpu.shares": "512" };
  const limits = { cpuQuota: 50_000, cpuPeriod: 100_000, cpuShares: 102 };
  assert.deepEqual(await set(files, limits, "cpu", "before"), [{ cpuQuota: 50_000, cpuPeriod: 100_000 }]);
  assert.deepEqual(await set(files, limits, "cpu", "after"), [{ cpuShares: 102 }]);
  const unified = { "cpu.max": "20000 100000", "cpu.weight": "20" };
  assert.deepEqual(await set(unified, limits, "cpu", "after"), [{ cpuShares: 102 }]);
});
