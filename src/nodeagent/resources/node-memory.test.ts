import assert from "node:assert/strict";
import { test } from "node:test";
import type { CgroupMounts } from "./cgroup-tree.ts";
import { nodeMemory } from "./node-memory.ts";

const meminfo = "MemTotal: 100 kB\nMemFree: 40 kB\nMemAvailable: 90 kB\n";
const first: CgroupMounts = { version: 1, controllers: new Map() };
const second: CgroupMounts = { version: 2, path: "/", controllers: new Set(["memory"]) };

const cases: [name: string, mounts: CgroupMounts, files: Record<string, string>, expected: number[]][] = [
  [
    "cgroup v1 uses the counters of the root group",
    first,
    {
      "memory.usage_in_bytes": "60000\n",
      "memory.stat": "rss 1\ninactive_file 2\npgfault 8\ntotal_rss 30000\ntotal_inactive_file 20000\n",
    },
    [62_400, 60_000, 40_000, 30_000, 8],
  ],
  [
    "cgroup v2 uses total minus free memory",
    second,
    { "memory.stat": "anon 30000\ninactive_file 1440\npgfault 8\n" },
    [42_400, 61_440, 60_000, 30_000, 8],
  ],
  [
    "without control groups nothing is considered reclaimable",
    { version: 0 },
    {},
    [40_960, 61_440, 61_440, 0, 0],
  ],
];
for (const [name, mounts, files, expected] of cases)
  test(name, async () => {
    const tree = {
      mounts,
      read: (_group: string, _controller: string, file: string) => Promise.resolve(files[file]),
    };
    const found = await nodeMemory(tree, 102_400, meminfo);
    assert.deepEqual(
      [found.availableBytes, found.usageBytes, found.workingSetBytes, found.rssBytes, found.pageFaults],
      expected,
    );
  });
