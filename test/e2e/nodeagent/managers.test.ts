// Exclusive CPUs and memory of containers, verified from inside them, from the pod resources API and in the
// state files, and kept over restarts of the agent.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  type Cluster,
  type ListedPod,
  type PodHome,
  listPodResources,
  needsCluster,
  podHome,
  startCluster,
  until,
} from "#kit";

const stays = "trap 'exit 0' TERM; while :; do sleep 0.1; done";
const whole = { resources: { limits: { cpu: "1", memory: "64Mi" } } };
const needsTwoCpus = (): { skip: string | false } =>
  availableParallelism() < 2 ? { skip: "the machine has one CPU" } : needsCluster();

describe("managers of CPUs and memory", needsTwoCpus(), () => {
  let cluster: Cluster;
  let home: PodHome;
  before(async () => {
    cluster = await startCluster({
      agentConfig: {
        cpuManagerPolicy: "static",
        cpuManagerReconcilePeriod: "1s",
        reservedSystemCPUs: "0",
        memoryManagerPolicy: "Static",
        reservedMemory: [{ numaNode: 0, limits: { memory: "300Mi" } }],
        systemReserved: { memory: "200Mi" },
        evictionHard: { "memory.available": "100Mi", "nodefs.available": "0%", "imagefs.available": "0%" },
        topologyManagerPolicy: "single-numa-node",
      },
    });
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
  });
  /**
   * Returns the CPUs and the memory nodes that a container's processes may use, as reported by the kernel.
   */
  const allowed = async (name: string): Promise<readonly string[]> => {
    const status = await home.exec(name, "cat", "/proc/self/status");
    return ["Cpus", "Mems"].map(
      (what) => new RegExp(`${what}_allowed_list:\\s+(\\S+)`).exec(status)?.[1] ?? "",
    );
  };
  const state = async (file: string): Promise<{ entries?: Record<string, object> }> =>
    JSON.parse(await readFile(join(cluster.agent.rootDir, file), "utf8")) as never;
  const listed = async (name: string): Promise<ListedPod | undefined> =>
    (await listPodResources(cluster)).find((pod) => pod.name === name);

  test("a guaranteed container has an exclusive CPU and memory node; other containers share the rest, and all of it afterwards", async () => {
    const shared = await home.script(stays);
    await home.ready(shared);
    const [all = ""] = await allowed(shared);
    const own = await home.ready(await home.script(stays, whole));
    const name = own.metadata.name!;
    const [cpu = "", memory] = await allowed(name);
    assert.match(cpu, /^[1-9]\d*$/);
    assert.equal(memory, "0");
    await until("the others have left its CPU", async () => (await allowed(shared))[0] !== all);
    const pod = await listed(name);
    assert.deepEqual(pod?.containers[0]?.cpuIds.map(Number), [Number(cpu)]);
    assert.deepEqual(
      pod?.containers[0]?.memory.map(({ memoryType }) => memoryType),
      ["memory"],
    );
    for (const file of ["cpu_manager_state", "memory_manager_state"])
      assert.ok(own.metadata.uid! in ((await state(file)).entries ?? {}), file);

    await cluster.agent.restart();
    assert.deepEqual(await allowed(name), [cpu, memory]);
    await until("the pod is listed again", async () => Boolean(await listed(name)));
    assert.deepEqual((await listed(name))?.containers[0]?.cpuIds.map(Number), [Number(cpu)]);
    assert.equal(home.get(name)?.status?.containerStatuses?.[0]?.restartCount, 0);

    await home.remove(name);
    // As with the kubelet, the CPUs of the last admitted pod are released when another pod is admitted.
    const next = await home.script(stays);
    await home.ready(next);
    await until("the others have its CPU back", async () => (await allowed(shared))[0] === all);
    await Promise.all([home.remove(shared), home.remove(next)]);
  });

  test("a pod that needs more exclusive CPUs than available is rejected", async () => {
    const cpus = String(availableParallelism());
    const refused = await home.ended(
      await home.script(stays, { resources: { limits: { cpu: cpus, memory: "64Mi" } } }),
    );
    assert.equal(refused.status?.phase, "Failed");
    assert.match(refused.status?.reason ?? "", /^(OutOfcpu|UnexpectedAdmissionError|TopologyAffinityError)$/);
  });
});
