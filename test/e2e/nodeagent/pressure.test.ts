// Real pressure at a small scale: a separate disk for the agent, which pods fill, a limited cgroup, whose
// memory they use, and unused images. The machine's own resources are never short.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { kinds } from "#client";
import { grpcRuntime } from "#cri";
import { type Cluster, type PodHome, needsCluster, podHome, programCommand, startCluster, until } from "#kit";
import { type SmallDisk, smallDisk } from "../../robustness/node-surroundings.ts";

const run = promisify(execFile);
const mebibyte = 1 << 20;
const ample = { "imagefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.inodesFree": "0%" };
const stays = "while :; do sleep 1; done";

describe("a node under pressure", needsCluster(), () => {
  let cluster: Cluster;
  let home: PodHome;
  let disk: SmallDisk;
  before(async () => {
    disk = await smallDisk(await mkdtemp(join(tmpdir(), "orch-small-disk-")), 64);
    cluster = await startCluster({
      agentRoot: disk.path,
      agentConfig: {
        evictionPressureTransitionPeriod: "5s",
        // Pods may use 800 MiB together; there is pressure when less than 600 MiB of them are available.
        systemReserved: { memory: String(totalmem() - 800 * mebibyte) },
        evictionHard: { ...ample, "memory.available": "600Mi", "nodefs.available": "24Mi" },
        imageMinimumGCAge: "0s",
      },
    });
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
    await disk?.[Symbol.asyncDispose]();
  });
  const hasPressure = async (wanted: string): Promise<boolean> => {
    const { status } = await cluster.client.of(kinds.nodes).get(cluster.nodeName);
    return status?.conditions?.some(({ type, status: is }) => type === wanted && is === "True") === true;
  };
  const why = async (): Promise<string> => {
    const [program = "", ...words] = programCommand("orch");
    const whyEvict = ["node", "why-evict", cluster.nodeName, "--orchconfig", cluster.apiserver.kubeconfig];
    return (await run(program, [...words, ...whyEvict])).stdout;
  };

  test("a pod that fills the disk is evicted, as the agent's pressure report predicts, the others stay, and the pressure ends", async () => {
    const volume = { volumes: [{ name: "v", emptyDir: {} }] };
    const mounts = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const modest = await home.script(stays, mounts, volume);
    const greedy = await home.script(
      `until [ -e /v/go ]; do sleep 0.2; done; dd if=/dev/zero of=/v/f bs=1M count=48; ${stays}`,
      mounts,
      volume,
    );
    await home.ready(modest);
    await home.ready(greedy);
    assert.match(await why(), /pressure: none[\s\S]*nodefs\.available: .* left, evicts below hard 24Mi/);
    await home.exec(greedy, "touch", "/v/go");
    const evicted = await home.ended(greedy);
    assert.deepEqual([evicted.status?.phase, evicted.status?.reason], ["Failed", "Evicted"]);
    assert.match(
      evicted.status?.message ?? "",
      /^The node was low on resource: ephemeral-storage\. Threshold quantity: 24Mi, available: /,
    );
    const target = evicted.status?.conditions?.find(({ type }) => type === "DisruptionTarget");
    assert.equal(target?.status, "True");
    await home.events(greedy, "Evicted");
    await until("the pressure ends", async () => !(await hasPressure("DiskPressure")));
    assert.equal(home.get(modest)?.status?.phase, "Running");
    await Promise.all([home.remove(greedy), home.remove(modest)]);
  });

  test("a pod that uses the memory of all pods is evicted; one that stays within its request stays", async () => {
    const requested = { resources: { requests: { memory: "64Mi" } } };
    const modest = await home.script(stays, requested);
    await home.ready(modest);
    const greedy = await home.script(`A=$(head -c 250000000 /dev/zero | tr '\\0' a); ${stays}`);
    const evicted = await home.ended(greedy);
    assert.deepEqual([evicted.status?.phase, evicted.status?.reason], ["Failed", "Evicted"]);
    assert.match(
      evicted.status?.message ?? "",
      /^The node was low on resource: memory\. .* Container c was using \d+Ki, request is 0, /,
    );
    assert.match(await why(), /memory/);
    const refused = await home.ended(await home.script("true"));
    // The pressure may have ended already: then the pod has run.
    assert.ok(refused.status?.reason === "Evicted" || refused.status?.phase === "Succeeded");
    await until("the pressure ends", async () => !(await hasPressure("MemoryPressure")));
    assert.equal(home.get(modest)?.status?.phase, "Running");
    await home.remove(modest);
  });

  test("under disk pressure unused images are removed; images in use and critical pods stay", async () => {
    const { images, registry, endpoint } = cluster.containerd;
    const unused = await registry.add("unused:1", { command: ["sh"], files: { "/some": "thing" } });
    const runtime = grpcRuntime({ endpoint, timeoutMilliseconds: 60_000 });
    try {
      await runtime.pullImage({ image: unused });
      const critical = await home.script(stays, {}, { priorityClassName: "system-node-critical" });
      await home.ready(critical);
      // Every disk is below this threshold, so the pressure begins without filling the machine's disk.
      await cluster.agent.configure({ evictionHard: { "imagefs.available": "99%" } });
      await cluster.agent.restart();
      const names = async (): Promise<readonly string[]> =>
        (await runtime.listImages()).flatMap(({ repoTags }) => repoTags);
      await until("the unused image is gone", async () => !(await names()).includes(unused));
      assert.ok((await names()).includes(images.busybox));
      await until("the pressure is reported", () => hasPressure("DiskPressure"));
      assert.equal(home.get(critical)?.status?.phase, "Running");
    } finally {
      runtime.close();
    }
  });
});
