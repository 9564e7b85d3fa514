import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Pod } from "#api";
import { silentLog, virtualClock } from "#base";
import type { ContainerRuntime } from "#cri";
import { usageOf } from "../eviction/usage.ts";
import type { PodRegistry } from "../interfaces.ts";
import { localUsage } from "../server/summary.ts";
import { cgroupTree } from "./cgroup-tree.ts";
import { cgroupUsage } from "./cgroup-usage.ts";
import { readMachine } from "./machine.ts";
import { stats } from "./stats.ts";

async function files(t: TestContext, texts: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "stats-"));
  t.after(() => rm(root, { recursive: true }));
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}
const separate = (root: string) =>
  cgroupTree(
    {
      version: 1,
      controllers: new Map(["cpu", "cpuacct", "memory", "pids"].map((name) => [name, join(root, name)])),
    },
    silentLog,
  );
/** Returns options for stats over cgroup v1 files: a single group, and no volumes. */
const plainOptions = async (root: string) => ({
  tree: separate(root),
  machine: await readMachine(),
  rootDirectory: root,
  podsGroup: "/g",
  groupOf: () => "/g",
  volumesOf: () => new Map(),
  volumeMilliseconds: 0,
});
const firstVersion = {
  "cpuacct/g/cpuacct.usage": "5000000000\n",
  "cpuacct/g/cpuacct.stat": "user 300\nsystem 200\n",
  "cpu/g/cpu.stat": "nr_periods 10\nnr_throttled 3\nthrottled_time 7\n",
  "memory/g/memory.usage_in_bytes": "1000\n",
  "memory/g/memory.stat":
    "cache 1\ntotal_cache 400\ntotal_rss 600\ntotal_inactive_file 100\ntotal_pgfault 5\ntotal_pgmajfault 1\n",
  "memory/g/memory.limit_in_bytes": "2000\n",
  "pids/g/pids.current": "4\n",
};

test("cgroup usage is read from v1 files", async (t) => {
  const usage = await cgroupUsage(separate(await files(t, firstVersion)), "/g");
  assert.deepEqual(
    [
      usage?.cpuNanoseconds,
      usage?.userNanoseconds,
      usage?.throttledPeriods,
      usage?.workingSetBytes,
      usage?.rssBytes,
      usage?.memoryLimitBytes,
      usage?.processes,
    ],
    [5e9, 3e9, 3, 900, 600, 2000, 4],
  );
});

test("cgroup usage is read from v2 files, without a limit", async (t) => {
  const root = await files(t, {
    "g/cpu.stat": "usage_usec 5000\nuser_usec 3000\nsystem_usec 2000\nnr_periods 1\n",
    "g/memory.current": "1000\n",
    "g/memory.max": "max\n",
    "g/memory.stat": "anon 600\nfile 400\ninactive_file 100\n",
    "g/pids.current": "4\n",
  });
  const tree = cgroupTree(
    { version: 2, path: root, controllers: new Set(["cpu", "memory", "pids"]) },
    silentLog,
  );
  const usage = await cgroupUsage(tree, "/g");
  assert.deepEqual(
    [
      usage?.cpuNanoseconds,
      usage?.workingSetBytes,
      usage?.rssBytes,
      usage?.memoryLimitBytes,
      usage?.processes,
    ],
    [5e6, 900, 600, undefined, 4],
  );
  assert.equal(await cgroupUsage(tree, "/nope"), undefined);
});

test("stats come from the runtime and cgroups, rates from two samples", async (t) => {
  const root = await files(t, firstVersion);
  const clock = virtualClock(Date.UTC(2024, 0, 1));
  let nanoseconds = 1e9;
  let calls = 0;
  const runtime = {
    listContainerStats: () => {
      calls++;
      return Promise.resolve([
        {
          attributes: { id: "c1" },
          cpu: { usageCoreNanoSeconds: { value: nanoseconds } },
          memory: { workingSetBytes: { value: 77 } },
          writableLayer: { usedBytes: { value: 8 }, inodesUsed: { value: 2 } },
        },
      ]);
    },
    imageFsInfo: () => Promise.resolve([]),
  } as unknown as ContainerRuntime;
  const pod = {
    metadata: { name: "p", namespace: "ns", uid: "u" },
    spec: {
      hostNetwork: true,
      volumes: [
        { name: "v", emptyDir: {} },
        { name: "d", persistentVolumeClaim: { claimName: "x" } },
        { name: "h", persistentVolumeClaim: { claimName: "y" } },
        { name: "e", ephemeral: {} },
      ],
    },
    status: { containerStatuses: [{ name: "c", state: { running: { startedAt: "2023-12-31T00:00:00Z" } } }] },
  } as unknown as Pod;
  const logs = join(root, "logs");
  const [hosts, message] = [join(root, "pods/u/etc-hosts"), join(root, "pods/u/containers/c/1")];
  for (const path of [join(logs, "0.log"), join(logs, "0.log.20240102-030405"), hosts, message]) {
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, "x".repeat(5000));
  }
  await mkdir(join(root, "v"));
  const registry = {
    pods: () => [pod],
    containers: () => [{ name: "c", id: "c1", state: "running", attempt: 0, logPath: join(logs, "0.log") }],
  } as unknown as PodRegistry;
  const parts = {
    clock,
    runtime,
    registry,
    ...(await plainOptions(root)),
    volumesOf: () =>
      new Map([
        ["v", { hostPath: join(root, "v") }],
        ["d", { hostPath: join(root, "v"), isDevice: true }],
        ["h", { hostPath: join(root, "v"), isForeign: true }],
        ["e", { hostPath: join(root, "v") }],
      ]),
  };
  const collector = stats({ ...parts, volumeMilliseconds: 60_000 });
  const first = (await collector.get()).pods[0]!;
  assert.deepEqual(
    [first.containers[0]!.cpu, first.containers[0]!.workingSetBytes, first.containers[0]!.startedAt],
    [{ nanoseconds: 1e9, nanoCores: undefined }, 77, Date.UTC(2023, 11, 31)],
  );
  const { logs: ofLogs } = first.containers[0]!;
  assert.ok(ofLogs.bytes >= 10_000 && ofLogs.inodes === 2, "rotated logs count");
  assert.ok(first.files.bytes >= 10_000 && first.files.inodes === 2, "files that containers write to count");
  assert.ok(localUsage(first).bytes >= 20_000 && usageOf(first).ephemeralBytes >= 20_000);
  assert.deepEqual(
    [first.usage?.memoryBytes, first.volumes.map(({ name, isLocal, claim }) => [name, isLocal, claim])],
    [
      1000,
      [
        ["v", true, undefined],
        ["e", false, "p-e"],
      ],
    ],
  );
  assert.deepEqual((await stats(parts).get()).pods[0]!.volumes, [], "a period of 0 leaves volumes out");
  calls = 1;
  await collector.get();
  assert.equal(calls, 1, "a second call within a short time returns the same stats");
  await clock.advance(10_000);
  clock.set(clock.now() - 9000);
  nanoseconds = 2e9;
  assert.equal((await collector.get()).pods[0]!.containers[0]!.cpu.nanoCores, 1e8);
});

test("hardware and identity of the machine are read", async (t) => {
  const root = await files(t, {
    "proc/meminfo": "MemTotal:       16384 kB\nSwapTotal:       0 kB\n",
    "etc/machine-id": "abc\n",
    "proc/sys/kernel/random/boot_id": "boot\n",
    "proc/sys/kernel/osrelease": "6.1.0\n",
    "proc/sys/kernel/pid_max": "4194304\n",
    "proc/sys/kernel/threads-max": "1000\n",
    "etc/os-release": 'NAME="X"\nPRETTY_NAME="An OS 1"\n',
    "sys/devices/system/cpu/cpu0/topology/core_id": "0\n",
    "sys/devices/system/cpu/cpu0/topology/physical_package_id": "0\n",
    "sys/devices/system/cpu/cpu1/topology/core_id": "0\n",
    "sys/devices/system/cpu/cpu1/topology/physical_package_id": "0\n",
    "sys/devices/system/cpu/cpu2/topology/core_id": "0\n",
    "sys/devices/system/cpu/cpu2/topology/physical_package_id": "1\n",
    "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "3\n",
    "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0\n",
  });
  const machine = await readMachine(root);
  assert.deepEqual(
    { ...machine, cpus: 0, architecture: "" },
    {
      cpus: 0,
      cores: 2,
      sockets: 2,
      memoryBytes: 16_777_216,
      swapBytes: 0,
      hugepages: [
        { size: "1GB", pageBytes: 1024 ** 3, count: 0 },
        { size: "2MB", pageBytes: 2 * 1024 ** 2, count: 3 },
      ],
      machineId: "abc",
      systemUuid: "abc",
      bootId: "boot",
      kernelVersion: "6.1.0",
      osImage: "An OS 1",
      architecture: "",
      maxPids: 1000,
      appArmor: false,
      selinux: false,
    },
  );
});

test("with runtime stats, neither cgroup nor interface stats are used", async (t) => {
  const root = await files(t, firstVersion);
  const reported = {
    attributes: { metadata: { uid: "u" } },
    linux: {
      cpu: { usageCoreNanoSeconds: { value: 7 } },
      memory: { workingSetBytes: { value: 8 } },
      network: { defaultInterface: { name: "eth9", rxBytes: { value: 1 } }, interfaces: [] },
      containers: [{ attributes: { id: "c1" }, memory: { workingSetBytes: { value: 9 } } }],
    },
  };
  const figuresOf = async (fromRuntime: boolean) => {
    const collector = stats({
      clock: virtualClock(),
      runtime: {
        listContainerStats: () => Promise.resolve([]),
        listPodSandboxStats: () => Promise.resolve([reported]),
        imageFsInfo: () => Promise.resolve([]),
      } as unknown as ContainerRuntime,
      registry: {
        pods: () => [{ metadata: { name: "p", namespace: "ns", uid: "u" }, spec: {} }],
        containers: () => [{ name: "c", id: "c1", state: "running", attempt: 0, logPath: "/none" }],
      } as unknown as PodRegistry,
      ...(await plainOptions(root)),
      fromRuntime,
    });
    const { usage, network, containers } = (await collector.get()).pods[0]!;
    return [
      usage?.workingSetBytes,
      network.map(({ name }) => name),
      containers.map((one) => one.workingSetBytes),
    ];
  };
  assert.deepEqual(await figuresOf(true), [8, ["eth9"], [9]]);
  assert.deepEqual(await figuresOf(false), [900, [], []]);
});

test("stats are collected again when older than allowed", async (t) => {
  const root = await files(t, firstVersion);
  const clock = virtualClock();
  let calls = 0;
  const callsWithMaxAge = async (oldestMilliseconds: number): Promise<number> => {
    calls = 0;
    const collector = stats({
      clock,
      runtime: {
        listContainerStats: () => {
          calls++;
          return Promise.resolve([]);
        },
        imageFsInfo: () => Promise.resolve([]),
      } as unknown as ContainerRuntime,
      registry: { pods: () => [] } as unknown as PodRegistry,
      ...(await plainOptions(root)),
      oldestMilliseconds,
    });
    for (let round = 0; round < 4; round++) {
      await collector.get();
      await clock.advance(500);
    }
    return calls;
  };
  assert.deepEqual([await callsWithMaxAge(400), await callsWithMaxAge(10_000)], [4, 1]);
});
