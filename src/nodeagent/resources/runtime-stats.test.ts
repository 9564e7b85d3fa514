import assert from "node:assert/strict";
import { test } from "node:test";
import { runtimeStats } from "./runtime-stats.ts";

const value = (given: number) => ({ value: given });
const stats = {
  attributes: { id: "s", metadata: { name: "p", uid: "u", namespace: "n", attempt: 0 } },
  linux: {
    cpu: { usageCoreNanoSeconds: value(5) },
    memory: { workingSetBytes: value(10), availableBytes: value(90), usageBytes: value(20) },
    network: {
      defaultInterface: { name: "eth0", rxBytes: value(1), txBytes: value(2) },
      interfaces: [{ name: "eth0" }, { name: "eth1", rxErrors: value(3) }],
    },
    process: { processCount: value(4) },
    containers: [{ attributes: { id: "c" }, cpu: { usageCoreNanoSeconds: value(3) } }],
  },
};

test("stats of the runtime replace those of the pod's cgroup", async () => {
  const found = await runtimeStats({ listPodSandboxStats: () => Promise.resolve([stats] as never) });
  const { usage, network } = found!.pods.get("u")!;
  assert.deepEqual(
    [usage.cpuNanoseconds, usage.workingSetBytes, usage.memoryLimitBytes, usage.memoryBytes, usage.processes],
    [5, 10, 100, 20, 4],
  );
  assert.deepEqual(
    network.map(({ name, rxBytes, txBytes, rxErrors }) => [name, rxBytes, txBytes, rxErrors]),
    [
      ["eth0", 1, 2, 0],
      ["eth1", 0, 0, 3],
    ],
  );
  assert.deepEqual([...found!.containers.keys()], ["c"]);
});

for (const code of ["UNIMPLEMENTED", "UNKNOWN"])
  test(`with a runtime that fails with ${code} its stats are not used`, async () => {
    const listPodSandboxStats = () => Promise.reject(Object.assign(new Error(code), { code }));
    assert.equal(await runtimeStats({ listPodSandboxStats }), undefined);
  });
