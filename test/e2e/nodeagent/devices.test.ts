// Device plugins on real containers: the test itself is a plugin with two devices; pods get them aligned with
// NUMA nodes, and keep them over restarts of the container and of the agent.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Pod } from "#api";
import { kinds } from "#client";
import { grpcRuntime } from "#cri";
import { streamingProcedure, unaryProcedure } from "#http";
import {
  type AnnouncedPlugin,
  type Cluster,
  type PodHome,
  announcePlugin,
  listPodResources,
  needsCluster,
  podHome,
  startCluster,
  until,
} from "#kit";
import { devicePlugin } from "#nodeagent";

const resource = "example.com/dev";
const wanting = (count: number) => ({ resources: { limits: { [resource]: String(count) } } });
const stays = "echo $DEVICES; trap 'exit 0' TERM; while :; do sleep 0.1; done";

describe("devices of plugins", needsCluster(), () => {
  let cluster: Cluster;
  let home: PodHome;
  let plugin: AnnouncedPlugin | undefined;
  before(async () => {
    cluster = await startCluster({
      agentConfig: { topologyManagerPolicy: "single-numa-node", topologyManagerScope: "pod" },
    });
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await plugin?.close();
    await cluster?.stop();
  });

  /** Registers a plugin with two devices near a NUMA node, and waits until the node reports them. */
  const startPlugin = async (numaNode: number): Promise<void> => {
    const topology = { nodes: [{ ID: numaNode }] };
    const devices = ["d1", "d2"].map((ID) => ({ ID, health: "Healthy", topology }));
    plugin = await announcePlugin(cluster.agent.rootDir, {
      type: "DevicePlugin",
      name: resource,
      version: "v1beta1",
      procedures: [
        unaryProcedure(devicePlugin.options.serve, () => ({})),
        streamingProcedure(devicePlugin.listAndWatch.serve, async function* (_, { signal }) {
          yield { devices };
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        }),
        unaryProcedure(devicePlugin.allocate.serve, ({ containerRequests }) => {
          const envs = { DEVICES: containerRequests.flatMap(({ devicesIds }) => devicesIds).join(",") };
          const device = { containerPath: "/dev/played", hostPath: "/dev/null", permissions: "rw" };
          const answer = { envs, mounts: [], devices: [device], annotations: {}, cdiDevices: [] };
          return { containerResponses: [answer] };
        }),
      ],
    });
    assert.equal((await plugin.reported).error, undefined);
    await allocatable("2");
  };
  const allocatable = (count: string): Promise<true> =>
    until(`the node has ${count} devices to give`, async () => {
      const { status } = await cluster.client.of(kinds.nodes).get(cluster.nodeName);
      return status?.allocatable?.[resource] === count;
    });
  /** Restarts the agent, and waits until it reports the devices of the plugin again. */
  const restartAgent = async (meanwhile?: () => Promise<void>): Promise<void> => {
    await cluster.agent.stop();
    await meanwhile?.();
    // The devices reported by the previous agent would satisfy the wait below.
    const forgotten = { capacity: { [resource]: null }, allocatable: { [resource]: null } };
    await cluster.client
      .of(kinds.nodes)
      .patch(cluster.nodeName, "merge", { status: forgotten }, { subresource: "status" });
    await cluster.agent.start();
    await allocatable("2");
  };
  const listedDevices = async (name: string): Promise<readonly string[] | undefined> =>
    (await listPodResources(cluster))
      .find((pod) => pod.name === name)
      ?.containers.flatMap(({ devices }) => devices.flatMap(({ deviceIds }) => deviceIds));
  const containerOf = ({ status }: Pod) => status?.containerStatuses?.[0];
  /** Removes sandboxes and their containers without the agent's knowledge. */
  const removeSandboxes = async (): Promise<void> => {
    const runtime = grpcRuntime({ endpoint: cluster.containerd.endpoint, timeoutMilliseconds: 60_000 });
    try {
      for (const { id } of await runtime.listPodSandboxes()) {
        await runtime.stopPodSandbox(id);
        await runtime.removePodSandbox(id);
      }
    } finally {
      runtime.close();
    }
  };

  test("devices near an absent NUMA node do not satisfy the single-numa-node policy", async () => {
    await startPlugin(7);
    const { status } = await home.ended(await home.script("true", wanting(1)));
    assert.equal(status?.reason, "TopologyAffinityError");
    await plugin?.close();
    await allocatable("0");
  });

  test("a container has the devices that it requests, with the environment and device nodes of their plugin", async () => {
    await startPlugin(0);
    const printed = await home.output("echo $DEVICES; test -c /dev/played && echo there", wanting(2));
    assert.match(printed, /^(d1,d2|d2,d1)\nthere\n$/);
  });

  test("a restarted container keeps its devices, and another pod gets others", async () => {
    const twice = "echo $DEVICES >> /v/had; test $(wc -l < /v/had) = 1 && exit 1; cat /v/had; ";
    const name = await home.script(
      `${twice} ${stays}`,
      { ...wanting(1), volumeMounts: [{ name: "v", mountPath: "/v" }] },
      { restartPolicy: "Always", volumes: [{ name: "v", emptyDir: {} }] },
    );
    await home.until(name, "has restarted and runs", (pod) => {
      const { restartCount, state } = containerOf(pod) ?? {};
      return restartCount === 1 && state?.running !== undefined;
    });
    const other = await home.script(stays, wanting(1));
    await home.ready(other);
    const [first, ...rest] = await until("it has printed its devices", async () => {
      const lines = (await home.logs(name)).trim().split("\n");
      return lines.length === 3 && lines;
    });
    assert.deepEqual(rest, [first, first]);
    assert.deepEqual(await listedDevices(name), [first]);
    assert.deepEqual(await listedDevices(other), [first === "d1" ? "d2" : "d1"]);
    await Promise.all([home.remove(name), home.remove(other)]);
  });

  test("a container keeps its devices over a restart of the agent, and they are free after its deletion", async () => {
    const pod = await home.ready(await home.script(stays, wanting(1)));
    const name = pod.metadata.name!;
    const devices = await listedDevices(name);
    // Below the agent's own root: an agent with another root on the same machine writes another file.
    const checkpoints = readdirSync(join(cluster.agent.rootDir, "device-plugins"));
    assert.deepEqual(checkpoints, ["nodeagent_internal_checkpoint"]);
    await restartAgent();
    assert.deepEqual(await listedDevices(name), devices);
    const other = await home.script(stays, wanting(1));
    await home.ready(other);
    assert.notDeepEqual(await listedDevices(other), devices);
    assert.equal(containerOf(home.get(name)!)?.containerID, containerOf(pod)?.containerID);
    await home.remove(other);

    await restartAgent(async () => {
      await home.remove(name, 0);
      await removeSandboxes();
    });
    assert.equal((await home.output("echo $DEVICES | wc -c", wanting(2))).trim(), "6", "both are free");
  });

  test("after a reboot a pod whose plugin is not back is rejected, and its devices are still listed", async () => {
    const name = await home.script(stays, wanting(1), { restartPolicy: "Always" });
    await home.ready(name);
    const devices = await listedDevices(name);
    await cluster.agent.stop();
    await plugin?.close();
    await removeSandboxes();
    await cluster.agent.start();
    const { status } = await home.ended(name);
    assert.equal(status?.reason, "UnexpectedAdmissionError");
    assert.equal(
      status?.message,
      `Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices ${resource}, which is unexpected`,
    );
    assert.deepEqual(await listedDevices(name), devices);
  });
});
