import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import type { VolumeUsage } from "../resources/stats.ts";
import { volumeStatsText } from "./volume-stats-text.ts";

const volume = (name: string, bytes: number, claim?: string): VolumeUsage => ({
  name,
  used: { bytes, inodes: 2 },
  filesystem: { capacityBytes: 100, availableBytes: 90, freeBytes: 95, inodes: 10, inodesFree: 8 },
  isLocal: false,
  ...(claim && { claim }),
});

test("the usage of each claim is exposed once, other volumes not at all", () => {
  const pods = [
    { namespace: "ns", volumes: [volume("a", 5), volume("b", 7, "data")] },
    { namespace: "ns", volumes: [volume("c", 9, "data")] },
    { namespace: "other", volumes: [volume("d", 11, "data")] },
  ] as never;
  const lines = volumeStatsText(dialects.kubernetes, { pods }).split("\n");
  const of = (name: string): string[] =>
    lines.filter((line) => line.startsWith(`kubelet_volume_stats_${name}{`));
  assert.deepEqual(of("used_bytes"), [
    'kubelet_volume_stats_used_bytes{namespace="ns",persistentvolumeclaim="data"} 7',
    'kubelet_volume_stats_used_bytes{namespace="other",persistentvolumeclaim="data"} 11',
  ]);
  assert.equal(lines.filter((line) => line.startsWith("# TYPE")).length, 6);
  assert.equal(of("capacity_bytes")[0]?.endsWith(" 100"), true);
  assert.equal(volumeStatsText(dialects.kubernetes, { pods: [] }), "");
});
