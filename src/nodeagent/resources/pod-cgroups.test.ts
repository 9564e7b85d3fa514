import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Pod } from "#api";
import { type Log, silentLog, systemClock, virtualClock } from "#base";
import { type CgroupNaming, podCgroup, uidOfGroup } from "./cgroup-names.ts";
import { type CgroupMounts, cgroupTree, findCgroups, weightOf } from "./cgroup-tree.ts";
import { podCgroups, podLimits } from "./pod-cgroups.ts";

const naming: CgroupNaming = { root: "/top", podsGroup: "pods", driver: "cgroupfs" };
const cpu = { quota: true, periodMicroseconds: 100_000 };
type Amounts = Record<string, string>;
const container = (requests: Amounts = {}, limits: Amounts = {}) => ({
  name: "c",
  resources: { requests, limits },
});
const pod = (uid: string, spec: object): Pod => ({ metadata: { name: "p", uid }, spec }) as unknown as Pod;
const burstable = pod("u1", { containers: [container({ cpu: "1" }, { memory: "1Mi" })] });
const guaranteed = pod("g", {
  containers: [container({ cpu: "1", memory: "200" }, { cpu: "1", memory: "200" })],
});
const hungry = pod("b", { containers: [container({ memory: "400" })] });

const limitCases: [name: string, spec: object, limits: object][] = [
  ["a pod without requests gets minimal shares", { containers: [{ name: "c" }] }, { cpuShares: 2 }],
  [
    "a guaranteed pod is limited to its limits",
    { containers: [container({ cpu: "500m", memory: "64Mi" }, { cpu: "500m", memory: "64Mi" })] },
    { cpuShares: 512, cpuPeriod: 100_000, cpuQuota: 50_000, memoryBytes: 64 * 1024 ** 2 },
  ],
  [
    "a burstable pod without limits has shares only",
    { containers: [container({ cpu: "250m" })] },
    { cpuShares: 256 },
  ],
  [
    "one container without a limit leaves the pod unlimited",
    { containers: [container({ cpu: "1" }, { cpu: "1", memory: "1Gi" }), container({}, { memory: "1Gi" })] },
    { cpuShares: 1024, memoryBytes: 2 * 1024 ** 3 },
  ],
  [
    "the largest init container and the overhead count",
    {
      containers: [container({ cpu: "100m" }, { cpu: "100m" })],
      initContainers: [container({ cpu: "300m" }, { cpu: "300m" })],
      overhead: { cpu: "100m" },
    },
    { cpuShares: 409, cpuPeriod: 100_000, cpuQuota: 40_000 },
  ],
  [
    "hugepages are limited by their kernel page size names",
    { containers: [container({ "hugepages-2Mi": "4Mi", cpu: "1" })] },
    { cpuShares: 1024, hugepages: { "2MB": 4 * 1024 ** 2 } },
  ],
];
for (const [name, spec, limits] of limitCases)
  test(name, () => assert.deepEqual(podLimits(pod("u", spec), cpu), limits));

test("names contain QoS class and pod, and yield the uid", () => {
  assert.equal(podCgroup(naming, "Burstable", "a-b"), "/top/pods/burstable/poda-b");
  assert.equal(podCgroup(naming, "Guaranteed", "a-b"), "/top/pods/poda-b");
  const systemd: CgroupNaming = { ...naming, root: "", driver: "systemd" };
  assert.equal(
    podCgroup(systemd, "BestEffort", "a-b"),
    "/pods.slice/pods-besteffort.slice/pods-besteffort-poda_b.slice",
  );
  assert.equal(uidOfGroup(systemd, "pods-besteffort-poda_b.slice"), "a-b");
  assert.equal(uidOfGroup(naming, "poda-b"), "a-b");
  assert.equal(uidOfGroup(naming, "burstable"), undefined);
});

test("the cgroup version is detected from the mounts", async () => {
  const first =
    "cgroup /c/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\ncgroup /c/memory cgroup rw,memory 0 0\ncgroup /c/systemd cgroup rw,name=systemd 0 0\ncgroup2 /c/unified cgroup2 rw 0 0\n";
  const found = await findCgroups(first);
  assert.deepEqual(found.version === 1 && [...found.controllers], [
    ["cpu", "/c/cpu,cpuacct"],
    ["cpuacct", "/c/cpu,cpuacct"],
    ["memory", "/c/memory"],
    ["name=systemd", "/c/systemd"],
    ["unified", "/c/unified"],
  ]);
  assert.equal((await findCgroups("cgroup2 /nowhere cgroup2 rw 0 0\n")).version, 2);
  assert.equal((await findCgroups("tmpfs /tmp tmpfs rw 0 0\n")).version, 0);
});

test("shares are converted to weights", () =>
  assert.deepEqual([2, 1024, 262_144].map(weightOf), [1, 39, 10_000]));

async function folders(t: {
  after(run: () => Promise<void>): void;
}): Promise<{ root: string; mounts: CgroupMounts }> {
  const root = await mkdtemp(join(tmpdir(), "cgroups-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const name of ["cpu", "memory", "cpuset"]) await mkdir(join(root, name));
  return {
    root,
    mounts: {
      version: 1,
      controllers: new Map(["cpu", "memory", "cpuset"].map((name) => [name, join(root, name)])),
    },
  };
}
const warnings = (): { log: Log; lines: string[] } => {
  const lines: string[] = [];
  return {
    lines,
    log: { ...silentLog, warn: (_, fields) => void lines.push(String(fields?.["controller"])) },
  };
};

test("a pod's group is created in every hierarchy, limited, found and removed", async (t) => {
  const { root, mounts } = await folders(t);
  const { log, lines } = warnings();
  const groups = podCgroups({
    tree: cgroupTree(mounts, log),
    naming,
    cpu,
    pidsPerPod: 100,
    perPod: true,
    admitted: () => [burstable],
    clock: systemClock,
    log,
  });
  await groups.prepare();
  const name = await groups.ensure(burstable);
  assert.equal(name, "/top/pods/burstable/podu1");
  const read = (tree: string, file: string): Promise<string> => readFile(join(root, tree, file), "utf8");
  assert.equal(await read("cpu", `${name}/cpu.shares`), "1024");
  assert.equal(await read("memory", `${name}/memory.limit_in_bytes`), "1048576");
  assert.equal(
    await read("cpu", "top/pods/burstable/cpu.shares"),
    "1024",
    "the class has the shares its pods request",
  );
  assert.equal(await read("cpu", "top/pods/besteffort/cpu.shares"), "2");
  assert.deepEqual(lines, ["pids"], "a missing controller is logged once");
  assert.deepEqual([...(await groups.podUids())], ["u1"]);
  for (const tree of ["cpu", "memory", "cpuset"])
    for (const file of await readdir(join(root, tree, name))) await rm(join(root, tree, name, file));
  await groups.release("u1");
  assert.deepEqual([...(await groups.podUids())], []);
  assert.equal(await read("cpu", "top/pods/burstable/cpu.shares"), "2");
  await groups.release("u1");
});

test("lower QoS classes are limited by the reserved memory of higher ones", async (t) => {
  const { root, mounts } = await folders(t);
  const groups = podCgroups({
    tree: cgroupTree(mounts, silentLog),
    naming,
    cpu,
    pidsPerPod: 0,
    perPod: true,
    admitted: () => [guaranteed, hungry],
    memoryReservedPercent: 50,
    allocatableMemory: () => 1000,
    clock: systemClock,
    log: silentLog,
  });
  await groups.prepare();
  await groups.ensure(guaranteed);
  await groups.ensure(hungry);
  const limit = (qos: string): Promise<string> =>
    readFile(join(root, `memory/top/pods/${qos}/memory.limit_in_bytes`), "utf8");
  assert.deepEqual([await limit("burstable"), await limit("besteffort")], ["900", "700"]);
});

test("without per-pod groups the parent is the root, and nothing is created", async (t) => {
  const { root, mounts } = await folders(t);
  const groups = podCgroups({
    tree: cgroupTree(mounts, silentLog),
    naming,
    cpu,
    pidsPerPod: 0,
    perPod: false,
    admitted: () => [],
    clock: systemClock,
    log: silentLog,
  });
  await groups.prepare();
  assert.equal(await groups.ensure(pod("u1", { containers: [{ name: "c" }] })), "/top");
  assert.deepEqual(await readdir(join(root, "cpu")), []);
});

test("in cgroup v2 controllers are enabled from the top down", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "cgroups-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, "cgroup.subtree_control"), "memory");
  const tree = cgroupTree({ version: 2, path: root, controllers: new Set(["cpu", "memory"]) }, silentLog);
  const groups = podCgroups({
    tree,
    naming,
    cpu,
    pidsPerPod: 0,
    perPod: true,
    admitted: () => [],
    clock: systemClock,
    log: silentLog,
  });
  const name = await groups.ensure(
    pod("u1", { containers: [container({ cpu: "1", memory: "1Mi" }, { cpu: "1", memory: "1Mi" })] }),
  );
  assert.equal(await readFile(join(root, "cgroup.subtree_control"), "utf8"), "+cpu");
  assert.equal(await readFile(join(root, name, "cpu.max"), "utf8"), "100000 100000");
  assert.equal(await readFile(join(root, name, "cpu.weight"), "utf8"), "39");
  assert.equal(await readFile(join(root, name, "memory.max"), "utf8"), "1048576");
});

const real =
  process.getuid?.() === 0 && existsSync("/sys/fs/cgroup/memory/tasks")
    ? false
    : "needs root and control groups of the first version";
test(
  "in real cgroups a group has its limits, and its processes are killed with it",
  { skip: real },
  async () => {
    const tree = cgroupTree(await findCgroups(), silentLog);
    const own: CgroupNaming = { root: `/agent-test-${process.pid}`, podsGroup: "pods", driver: "cgroupfs" };
    const groups = podCgroups({
      tree,
      naming: own,
      cpu,
      pidsPerPod: 50,
      perPod: true,
      admitted: () => [],
      clock: systemClock,
      log: silentLog,
    });
    let child: ChildProcess | undefined;
    try {
      await groups.prepare();
      const name = await groups.ensure(
        pod("u1", {
          containers: [container({ cpu: "500m", memory: "32Mi" }, { cpu: "500m", memory: "32Mi" })],
        }),
      );
      assert.equal(
        (await tree.read(name, "memory", "memory.limit_in_bytes"))?.trim(),
        String(32 * 1024 ** 2),
      );
      assert.equal((await tree.read(name, "cpu", "cpu.cfs_quota_us"))?.trim(), "50000");
      assert.equal((await tree.read(name, "pids", "pids.max"))?.trim(), "50");
      child = spawn("sleep", ["600"], { stdio: "ignore" });
      const ended = new Promise((resolve) => child!.once("exit", (_, signal) => resolve(signal)));
      for (const tree_ of ["memory", "cpuset", "pids"])
        await writeFile(join("/sys/fs/cgroup", tree_, name, "cgroup.procs"), String(child.pid));
      await groups.release("u1");
      assert.equal(await ended, "SIGKILL");
      assert.equal(await tree.exists(name), false);
    } finally {
      child?.kill("SIGKILL");
      await tree.remove(own.root);
    }
  },
);

test("a restarted agent keeps the shares of burstable pods, and updates them once all pods are known", async (t) => {
  const { root, mounts } = await folders(t);
  const clock = virtualClock();
  const stop = new AbortController();
  let known = false;
  const restarted = (admitted: readonly Pod[]) =>
    podCgroups({
      tree: cgroupTree(mounts, silentLog),
      naming,
      cpu,
      pidsPerPod: 0,
      perPod: true,
      admitted: () => admitted,
      clock,
      log: silentLog,
    });
  const shares = (): Promise<string> => readFile(join(root, "cpu/top/pods/burstable/cpu.shares"), "utf8");
  const first = restarted([burstable]);
  await first.prepare();
  await first.ensure(burstable);
  const second = restarted([burstable, hungry, pod("u2", burstable.spec)]);
  await second.prepare();
  assert.equal(await shares(), "1024", "the pods are not known yet");
  const reconciled = second.reconcile(() => known, stop.signal);
  await clock.advance(5000);
  assert.equal(await shares(), "1024");
  known = true;
  await clock.advance(60_000);
  assert.equal(await shares(), "2048");
  stop.abort();
  await reconciled;
});
