import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { cgroupTree } from "../resources/cgroup-tree.ts";
import { nodeReader } from "./node-reading.ts";

test("the image disk has no capacity before the node has been observed once", async () => {
  const rootDirectory = tmpdir();
  const reader = nodeReader({
    clock: virtualClock(0),
    runtime: { imageFsInfo: async () => [{ fsId: { mountpoint: rootDirectory } } as never] },
    machine: { memoryBytes: 1000, maxPids: 100 },
    tree: cgroupTree({ version: 0 }, silentLog),
    podsGroup: "/pods",
    rootDirectory,
  });
  const { signal } = new AbortController();
  const observed = reader.observe(signal);
  const first = reader.imageDisk(signal);
  const observations = await observed;
  assert.equal((await first).capacityBytes, 0);
  assert.ok((await reader.imageDisk(signal)).capacityBytes > 0);
  assert.equal(reader.dedicatedImageFs(), false);
  assert.ok(observations.has("imagefs.available"));
});
