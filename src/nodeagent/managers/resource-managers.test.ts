import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { checkpointStore } from "../resources/checkpoint-store.ts";
import { formatCpuSet, parseCpuSet } from "./cpu-set.ts";
import { podOf, twoSockets } from "./managers.fixture.ts";
import { type DeviceHints, type ResourceManagersOptions, resourceManagers } from "./resource-managers.ts";

const gibibyte = 1024 ** 3;
const numa = [0, 1].map((id) => ({
  id,
  memoryBytes: 8 * gibibyte,
  hugepages: new Map<number, number>(),
  distances: [10, 20],
}));
const { signal } = new AbortController();
const plain = { fullCoresOnly: false, distributeAcrossNuma: false, alignBySocket: false };
const reserved = new Map([[0, new Map([["memory", gibibyte]])]]);

async function begin(t: TestContext, more: Partial<ResourceManagersOptions> = {}, before?: string) {
  const directory = await mkdtemp(join(tmpdir(), "managers-"));
  t.after(() => rm(directory, { recursive: true, maxRetries: 20, retryDelay: 10 }));
  if (before !== undefined) await writeFile(join(directory, "cpu_manager_state"), before);
  const clock = virtualClock();
  const updates: string[] = [];
  const containers = new Map<string, { id: string; name: string; state: "running" }[]>();
  const pods: ReturnType<typeof podOf>[] = [];
  const options: ResourceManagersOptions = {
    clock,
    log: silentLog,
    runtime: {
      updateContainerResources: async (id, { cpusetCpus }) => void updates.push(`${id} ${cpusetCpus}`),
    },
    registry: () => ({ pods: () => pods, containers: (uid: string) => containers.get(uid) ?? [] }) as never,
    isRemoved: () => false,
    store: checkpointStore(directory),
    directory,
    topology: { cpu: twoSockets, numa },
    cpu: { reserved: parseCpuSet("0,8"), options: plain },
    reconcileMilliseconds: 1000,
    memory: undefined,
    topologyPolicy: "none",
    topologyScope: "container",
    preferClosest: false,
    ...more,
  };
  const managers = await resourceManagers(options);
  const state = async (name: string) =>
    JSON.parse(await readFile(join(directory, name), "utf8")) as Record<string, unknown>;
  return { managers, options, state, directory, clock, updates, containers, pods };
}

/** Returns a fake of the device manager that records the pods whose devices were freed. */
function devicesOf(...podUids: readonly string[]) {
  const freed: string[] = [];
  const devices: DeviceHints = {
    hints: () => null,
    podHints: () => null,
    reserve: () => undefined,
    abandon: () => undefined,
    podUids: () => podUids,
    free: (uid) => void freed.push(uid),
  };
  return { devices, freed };
}

const guaranteed = (uid: string, cpu = "2") => podOf(uid, [{ name: "c", cpu, memory: "1Gi" }]);

test("a Guaranteed pod gets exclusive CPUs, others share the rest, and the state file records that", async (t) => {
  const { managers, state, directory } = await begin(t);
  assert.deepEqual(managers.admit(guaranteed("a"), []), { ok: true });
  const [container] = guaranteed("a").spec.containers!;
  assert.deepEqual(await managers.contribute(guaranteed("a"), container!, signal), {
    resources: { cpusetCpus: "1,9" },
  });
  const other = podOf("b", [{ name: "c", cpu: "500m", memory: "1Gi" }]);
  assert.deepEqual(managers.admit(other, []), { ok: true });
  assert.deepEqual(await managers.contribute(other, other.spec.containers![0]!, signal), {
    resources: { cpusetCpus: "0,2-8,10-15" },
  });
  const { checksum: _, ...content } = await state("cpu_manager_state");
  assert.deepEqual(content, {
    policyName: "static",
    defaultCpuSet: "0,2-8,10-15",
    entries: { a: { c: "1,9" } },
  });
  assert.equal((await stat(join(directory, "cpu_manager_state"))).mode & 0o777, 0o600);
});

test("CPUs of init containers are reused by later containers", async (t) => {
  const { managers } = await begin(t);
  const pod = podOf("a", [{ name: "c", cpu: "2", memory: "1Gi" }], [{ name: "i", cpu: "4", memory: "1Gi" }]);
  managers.admit(pod, []);
  assert.equal(formatCpuSet(managers.exclusive("a", "i")), "1-2,9-10");
  assert.equal(formatCpuSet(managers.exclusive("a", "c")), "1,9");
});

test("a pod that requests more CPUs than are free is rejected and gets none", async (t) => {
  const { managers } = await begin(t);
  assert.deepEqual(managers.admit(guaranteed("a", "15"), []), {
    ok: false,
    reason: "UnexpectedAdmissionError",
    message: "Allocate failed due to not enough cpus available to satisfy request, which is unexpected",
  });
  const two = podOf("b", [
    { name: "x", cpu: "8", memory: "1Gi" },
    { name: "y", cpu: "8", memory: "1Gi" },
  ]);
  assert.equal(managers.admit(two, []).ok, false);
  assert.equal(managers.exclusive("b", "x").size, 0);
});

test("with full-pcpus-only, half a core is an alignment error", async (t) => {
  const { managers } = await begin(t, {
    cpu: { reserved: parseCpuSet("0,8"), options: { ...plain, fullCoresOnly: true } },
  });
  const refused = managers.admit(guaranteed("a", "3"), []);
  assert.equal(refused.ok ? "" : refused.reason, "SMTAlignmentError");
});

test("CPUs of a removed pod are shared again once another is admitted, and cpusets of running containers are updated", async (t) => {
  const { managers, clock, updates, containers, pods } = await begin(t);
  const shared = podOf("b", [{ name: "c" }]);
  pods.push(shared);
  containers.set("b", [{ id: "id-b", name: "c", state: "running" }]);
  managers.created!(shared, shared.spec.containers![0]!, "id-b");
  const stopping = new AbortController();
  const running = managers.run(stopping.signal);
  managers.admit(guaranteed("a"), []);
  await clock.advance(1000);
  managers.release!("a");
  await clock.advance(2000);
  assert.deepEqual(updates, ["id-b 0,2-8,10-15"], "until another pod is admitted");
  managers.admit(podOf("d", [{ name: "c" }]), []);
  await clock.advance(2000);
  stopping.abort();
  await running;
  assert.deepEqual(updates, ["id-b 0,2-8,10-15", "id-b 0-15"]);
});

test("resources of a pod that was removed while no agent was running are free for the next", async (t) => {
  const { managers, options } = await begin(t);
  managers.admit(guaranteed("a", "14"), []);
  await managers.contribute(guaranteed("a"), guaranteed("a").spec.containers![0]!, signal);
  const { devices, freed } = devicesOf("a", "d");
  const known = await resourceManagers({ ...options, devices });
  assert.equal(known.admit(guaranteed("b"), []).ok, false);
  const restarted = await resourceManagers({ ...options, devices, isRemoved: (uid) => uid !== "d" });
  assert.deepEqual(restarted.admit(guaranteed("b"), []), { ok: true });
  assert.deepEqual(freed, ["a"]);
});

test("CPUs of a pod that was removed while no agent was running are shared again without another admission", async (t) => {
  const { managers, options, clock } = await begin(t);
  managers.admit(guaranteed("a"), []);
  await managers.contribute(guaranteed("a"), guaranteed("a").spec.containers![0]!, signal);
  const after = await resourceManagers({ ...options, isRemoved: () => true });
  assert.equal(after.exclusive("a", "c").size, 2);
  const stopping = new AbortController();
  const running = after.run(stopping.signal);
  await clock.advance(1000);
  stopping.abort();
  await running;
  assert.equal(after.exclusive("a", "c").size, 0);
});

test("devices of the last admitted pod are freed only when another is admitted", async (t) => {
  const { devices, freed } = devicesOf();
  const { managers } = await begin(t, { devices });
  for (const uid of ["a", "b"]) managers.admit(guaranteed(uid), []);
  managers.release!("a");
  managers.release!("b");
  assert.deepEqual(freed, ["a"]);
  managers.admit(guaranteed("c"), []);
  assert.deepEqual(freed, ["a", "b"]);
});

test("a restarted agent keeps the allocations", async (t) => {
  const { managers, options } = await begin(t);
  managers.admit(guaranteed("a"), []);
  await managers.contribute(guaranteed("a"), guaranteed("a").spec.containers![0]!, signal);
  const again = await resourceManagers(options);
  assert.equal(formatCpuSet(again.exclusive("a", "c")), "1,9");
  assert.deepEqual(again.admit(guaranteed("a"), []), { ok: true });
});

const broken: [name: string, text: string, message: RegExp][] = [
  [
    "of another policy",
    '{"policyName":"none","defaultCpuSet":"","checksum":0}',
    /differs from state checkpoint/,
  ],
  ["that is empty", "", /drain this node and delete the CPU manager checkpoint file/],
  [
    "with a wrong checksum",
    '{"policyName":"static","defaultCpuSet":"0-15","checksum":5}',
    /checkpoint is corrupted/,
  ],
  [
    "without the reserved CPUs",
    '{"policyName":"static","defaultCpuSet":"1-15","checksum":0}',
    /not all reserved cpus/,
  ],
  [
    "with an invalid CPU set",
    '{"policyName":"static","defaultCpuSet":"0-x","checksum":0}',
    /"0-x" is not a valid CPU set, please drain this node and delete the CPU manager checkpoint file/,
  ],
];
for (const [name, text, message] of broken)
  test(`a state file ${name} prevents the start`, async (t) => {
    await assert.rejects(begin(t, {}, text), message);
  });

test("memory is allocated from one NUMA node, and an impossible affinity is rejected", async (t) => {
  const { managers, state } = await begin(t, {
    memory: { reserved },
    topologyPolicy: "single-numa-node",
  });
  const large = podOf("a", [{ name: "c", cpu: "2", memory: "7Gi" }]);
  assert.deepEqual(managers.admit(large, []), { ok: true });
  assert.deepEqual(managers.memoryBlocks("a", "c"), [
    { numaAffinity: [0], type: "memory", size: 7 * gibibyte },
  ]);
  assert.deepEqual(await managers.contribute(large, large.spec.containers![0]!, signal), {
    resources: { cpusetCpus: "1,9", cpusetMems: "0" },
  });
  const second = podOf("b", [{ name: "c", cpu: "2", memory: "8Gi" }]);
  managers.admit(second, []);
  assert.deepEqual(managers.memoryBlocks("b", "c")[0]!.numaAffinity, [1]);
  assert.deepEqual(managers.admit(podOf("d", [{ name: "c", cpu: "10", memory: "1Ki" }]), []), {
    ok: false,
    reason: "TopologyAffinityError",
    message: "Resources cannot be allocated with Topology locality",
  });
  managers.release!("a");
  await managers.contribute(second, second.spec.containers![0]!, signal);
  const { machineState } = (await state("memory_manager_state")) as {
    machineState: Record<string, { memoryMap: { memory: { free: number } } }>;
  };
  assert.equal(machineState["0"]!.memoryMap.memory.free, 7 * gibibyte);
  assert.equal(machineState["1"]!.memoryMap.memory.free, 0);
});

test("a restarted agent accepts memory of several nodes, however it is divided among them", async (t) => {
  const { managers, options } = await begin(t, { cpu: undefined, memory: { reserved } });
  const guaranteedOf = (uid: string, memory: string) => podOf(uid, [{ name: "c", cpu: "1", memory }]);
  const small = guaranteedOf("b", "3Gi");
  for (const pod of [guaranteedOf("a", "10Gi"), small]) assert.ok(managers.admit(pod, []).ok);
  managers.release!("a");
  await managers.contribute(small, small.spec.containers![0]!, signal);
  const again = await resourceManagers(options);
  assert.deepEqual(again.memoryBlocks("b", "c"), [
    { numaAffinity: [0, 1], type: "memory", size: 3 * gibibyte },
  ]);
});

test("memory of init containers is freed once a later container of their pod is created", async (t) => {
  const { managers } = await begin(t, { memory: { reserved } });
  const pod = podOf("a", [{ name: "c", cpu: "2", memory: "1Gi" }]);
  const [init] = podOf("b", [{ name: "i", cpu: "2", memory: "3Gi" }]).spec.containers!;
  const whole = { ...pod, spec: { ...pod.spec, initContainers: [init!] } };
  managers.admit(whole, []);
  assert.equal(managers.memoryBlocks("a", "i").length, 1);
  managers.created!(whole, init!, "id-i");
  assert.equal(managers.memoryBlocks("a", "i").length, 1);
  managers.created!(whole, whole.spec.containers![0]!, "id-c");
  assert.deepEqual([managers.memoryBlocks("a", "i"), managers.memoryBlocks("a", "c").length], [[], 1]);
});
