// Volume plugins on real containers: a CSI driver that binds directories, played by the test itself and
// registered by its socket; and a FlexVolume program in the configured directory.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { kinds } from "#client";
import { unaryProcedure } from "#http";
import {
  type AnnouncedPlugin,
  type Cluster,
  type PodHome,
  announcePlugin,
  needsCluster,
  podHome,
  startCluster,
  until,
} from "#kit";
import { csiNodeService } from "#nodeagent";

const run = promisify(execFile);
const driver = "bind.example.com";

describe("volume plugins of the node", needsCluster(), () => {
  let cluster: Cluster;
  let home: PodHome;
  let data = "";
  const published = new Set<string>();
  const unpublished = new Set<string>();
  /** Binds a directory to the requested path, and unbinds it. */
  const procedures = [
    unaryProcedure(csiNodeService.info.serve, () => ({ nodeId: "me", maxVolumesPerNode: 3 })),
    unaryProcedure(csiNodeService.capabilities.serve, () => ({ capabilities: [] })),
    // Calls may be repeated: both are idempotent, as the protocol requires.
    unaryProcedure(csiNodeService.publish.serve, async ({ targetPath }) => {
      if (published.has(targetPath)) return {};
      published.add(targetPath);
      await mkdir(targetPath, { recursive: true });
      await run("mount", ["--bind", data, targetPath]);
      return {};
    }),
    unaryProcedure(csiNodeService.unpublish.serve, async ({ targetPath }) => {
      assert.ok(published.has(targetPath), `${targetPath} was published`);
      if (!unpublished.has(targetPath)) await run("umount", [targetPath]);
      unpublished.add(targetPath);
      return {};
    }),
  ];
  let plugin: AnnouncedPlugin | undefined;
  const startDriver = async (): Promise<void> => {
    const info = { type: "CSIPlugin", name: driver, version: "1.0.0", procedures } as const;
    plugin = await announcePlugin(cluster.agent.rootDir, info);
    assert.equal((await plugin.reported).error, undefined);
  };
  /** Closes the sockets, as if the driver had died. */
  const endDriver = async (): Promise<void> => {
    await plugin?.close();
    plugin = undefined;
  };
  const volume = { volumes: [{ name: "v", csi: { driver } }] };
  const mounts = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
  const nothingMounted = (uid: string | undefined): Promise<true> =>
    until("nothing is mounted for the pod any more", async () => {
      const mounted = await readFile("/proc/self/mountinfo", "utf8");
      return !mounted.includes(`/pods/${uid}/volumes/`);
    });
  let programs = "";
  before(async () => {
    programs = await mkdtemp(join(tmpdir(), "orch-volume-programs-"));
    cluster = await startCluster({ agentConfig: { volumePluginDir: programs } });
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await endDriver();
    await cluster?.stop();
    await rm(programs, { recursive: true, force: true });
  });

  test("a driver's volume is published for the pod and unpublished after its deletion", async () => {
    data = join(cluster.folder, "driver-data");
    await mkdir(data, { recursive: true });
    await writeFile(join(data, "hello"), "from the driver\n");
    await startDriver();
    const { drivers } = await until("the node lists the driver", async () => {
      const { spec } = await cluster.client.of(kinds.csiNodes).get(cluster.nodeName);
      return (spec.drivers ?? []).length > 0 && spec;
    });
    assert.deepEqual(drivers, [
      { name: driver, nodeID: "me", topologyKeys: null, allocatable: { count: 3 } },
    ]);
    await cluster.client
      .of(kinds.csiDrivers)
      .create({ metadata: { name: driver }, spec: { volumeLifecycleModes: ["Ephemeral"] } });
    const name = await home.script("cat /v/hello; echo back > /v/answer", mounts, volume);
    const { metadata } = await home.ended(name);
    await home.printed(name, "from the driver\n");
    assert.equal(await readFile(join(data, "answer"), "utf8"), "back\n");
    await home.remove(name);
    await until("the volume is taken back", async () => unpublished.size > 0);
    assert.deepEqual(unpublished, published);
    await nothingMounted(metadata.uid);
  });

  test("a driver that dies delays pods and their removal; with the agent killed meanwhile, nothing is lost", async () => {
    const stays = "trap 'exit 0' TERM; while :; do sleep 0.1; done";
    const before = await home.ready(await home.script(stays, mounts, volume));
    const name = before.metadata.name!;
    await endDriver();
    const waiting = await home.script("cat /v/hello", mounts, volume);
    await home.events(waiting, "FailedMount");
    await cluster.client.of(kinds.pods).delete(name, { namespace: home.namespace });
    await home.until(name, "has ended", ({ status }) =>
      Boolean(status?.containerStatuses?.every(({ state }) => state.terminated)),
    );
    await cluster.agent.kill9();
    await cluster.agent.start();
    await startDriver();
    await home.gone(name);
    await nothingMounted(before.metadata.uid);
    const { metadata, status } = await home.ended(waiting);
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 0);
    await home.printed(waiting, "from the driver\n");
    await home.remove(waiting);
    await nothingMounted(metadata.uid);
    assert.deepEqual(unpublished, published);
  });

  test("a program in the volume plugin directory mounts a pod's volume, and unmounts it", async () => {
    const served = join(cluster.folder, "program-data");
    await mkdir(served);
    await writeFile(join(served, "hello"), "from the program\n");
    const folder = join(programs, "example~bind");
    await mkdir(folder);
    const script = [
      "#!/bin/sh",
      `case "$1" in`,
      `init) echo '{"status":"Success","capabilities":{"attach":false}}' ;;`,
      `mount) mkdir -p "$2" && mount --bind ${served} "$2" && echo '{"status":"Success"}' ;;`,
      `unmount) umount "$2" && echo '{"status":"Success"}' ;;`,
      `*) echo '{"status":"Not supported"}'; exit 1 ;;`,
      "esac",
      "",
    ];
    await writeFile(join(folder, "bind"), script.join("\n"));
    await chmod(join(folder, "bind"), 0o755);
    const name = await home.script("cat /v/hello", mounts, {
      volumes: [{ name: "v", flexVolume: { driver: "example/bind" } }],
    });
    const { metadata } = await home.ended(name);
    await home.printed(name, "from the program\n");
    await home.remove(name);
    await nothingMounted(metadata.uid);
  });
});
