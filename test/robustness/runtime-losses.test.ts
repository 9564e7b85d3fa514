import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContainerRuntime } from "#cri";
import { runtimeLosses } from "./runtime-losses.ts";

const killedAt = 1_000_000;
const backAt = killedAt + 3000;
const cases: [name: string, exitCode: number, reason: string, endedAt: number, isLost: boolean][] = [
  [
    "a container that the runtime did not recover after its kill is lost",
    255,
    "Unknown",
    killedAt + 2500,
    true,
  ],
  ["a container that exited like that before the kill is not lost", 255, "Unknown", killedAt - 1, false],
  ["nor is one that exited after the runtime was ready again", 255, "Unknown", backAt + 1, false],
  ["a container that ended with 255 by itself is not lost", 255, "Error", killedAt + 2500, false],
  ["nor is one that was killed meanwhile", 137, "Error", killedAt + 2500, false],
];
for (const [name, exitCode, reason, endedAt, isLost] of cases) {
  test(name, async () => {
    const status = { exitCode, reason, finishedAt: BigInt(endedAt) * 1_000_000n };
    const losses = runtimeLosses();
    losses.wasAway(killedAt, backAt);
    await losses.look({
      listContainers: async () => [{ id: "c1" }],
      containerStatus: async () => ({ status }),
    } as unknown as ContainerRuntime);
    assert.equal(losses.has("containerd://c1"), isLost);
    assert.equal(losses.has("containerd://another"), false);
  });
}

test("without a kill of the runtime no container is lost, whatever its status", async () => {
  const status = { exitCode: 255, reason: "Unknown", finishedAt: BigInt(killedAt) * 1_000_000n };
  const losses = runtimeLosses();
  await losses.look({
    listContainers: async () => [{ id: "c1" }],
    containerStatus: async () => ({ status }),
  } as unknown as ContainerRuntime);
  assert.equal(losses.has("c1"), false);
});
