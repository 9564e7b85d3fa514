// Claims on volumes of a CSI driver, on real mounts: attached on the agent's request, staged once for the
// node, published to each pod, expanded, measured, and all of it undone in reverse order.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { kinds } from "#client";
import { groupName } from "#dialect";
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
const driver = "disk.example.com";
const capabilities = { stage: 1, stats: 2, expand: 3 };
const mergePatch = { "content-type": "application/merge-patch+json" };

describe("claims on volumes of a driver", needsCluster(), () => {
  let cluster: Cluster;
  let home: PodHome;
  let plugin: AnnouncedPlugin;
  let device = "";
  const calls: string[] = [];
  const following = new AbortController();
  before(async () => {
    cluster = await startCluster({ agentConfig: { enableControllerAttachDetach: false } });
    home = await podHome(cluster);
    const image = join(cluster.folder, "disk.img");
    await run("truncate", ["-s", "16M", image]);
    device = (await run("losetup", ["--find", "--show", image])).stdout.trim();
    plugin = await announcePlugin(cluster.agent.rootDir, {
      type: "CSIPlugin",
      name: driver,
      version: "1.0.0",
      procedures: procedures(),
    });
    assert.equal((await plugin.reported).error, undefined);
    await cluster.client
      .of(kinds.csiDrivers)
      .create({ metadata: { name: driver }, spec: { attachRequired: true } });
    await letNodesAttach();
    void attach();
  });
  after(async () => {
    following.abort();
    home?.stop();
    await cluster?.stop();
    await plugin?.close();
    if (device !== "") await run("losetup", ["--detach", device]);
  });
  const mounted = async (path: string): Promise<boolean> =>
    (await readFile("/proc/self/mountinfo", "utf8")).includes(` ${path} `);
  const mount = async (from: string, to: string): Promise<void> => {
    await mkdir(to, { recursive: true });
    if (!(await mounted(to))) await run("mount", ["--bind", from, to]);
  };
  const unmount = async (path: string): Promise<void> => {
    if (await mounted(path)) await run("umount", [path]);
    await rm(path, { recursive: true, force: true });
  };

  /** A driver whose volumes are directories and, in one case, a device; every call may be repeated. */
  function procedures() {
    const note = (call: string): void => {
      if (calls.at(-1) !== call) calls.push(call);
    };
    return [
      unaryProcedure(csiNodeService.info.serve, () => ({ nodeId: "me" })),
      unaryProcedure(csiNodeService.capabilities.serve, () => ({
        capabilities: Object.values(capabilities).map((type) => ({ rpc: { type } })),
      })),
      unaryProcedure(
        csiNodeService.stage.serve,
        async ({ volumeId, publishContext, stagingTargetPath, volumeCapability }) => {
          note(`stage ${volumeId} at ${publishContext["slot"]}`);
          if (!volumeCapability?.block) await mount(join(cluster.folder, volumeId), stagingTargetPath);
          return {};
        },
      ),
      unaryProcedure(
        csiNodeService.publish.serve,
        async ({ volumeId, stagingTargetPath, targetPath, volumeCapability }) => {
          note(`publish ${volumeId}`);
          if (!volumeCapability?.block) await mount(stagingTargetPath!, targetPath);
          else if (!(await mounted(targetPath))) {
            await writeFile(targetPath, "");
            await run("mount", ["--bind", device, targetPath]);
          }
          return {};
        },
      ),
      unaryProcedure(csiNodeService.expand.serve, ({ volumeId, capacityRange }) => {
        note(`expand ${volumeId}`);
        return { capacityBytes: capacityRange?.requiredBytes };
      }),
      unaryProcedure(csiNodeService.stats.serve, () => ({
        usage: [{ unit: 1, total: 4096, used: 1024, available: 3072 }],
      })),
      unaryProcedure(csiNodeService.unpublish.serve, async ({ volumeId, targetPath }) => {
        note(`unpublish ${volumeId}`);
        await unmount(targetPath);
        return {};
      }),
      unaryProcedure(csiNodeService.unstage.serve, async ({ volumeId, stagingTargetPath }) => {
        note(`unstage ${volumeId}`);
        await unmount(stagingTargetPath);
        return {};
      }),
    ];
  }

  /**
   * Plays the attacher: marks requested attachments as attached, with a slot that is passed to the driver.
   */
  async function attach(): Promise<void> {
    const attachments = cluster.client.of(kinds.volumeAttachments);
    while (!following.signal.aborted) {
      for (const { metadata, status } of (await attachments.list().catch(() => ({ items: [] }))).items) {
        if (status?.attached || metadata.deletionTimestamp) continue;
        calls.push("attach");
        await cluster.client.request(
          "PATCH",
          `${attachmentsPath()}/${metadata.name}/status`,
          { status: { attached: true, attachmentMetadata: { slot: "7" } } },
          mergePatch,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  const attachmentsPath = (): string =>
    `/apis/${groupName(cluster.dialect, { group: "storage", branded: true })}/v1/volumeattachments`;

  /** The role of nodes only allows reading attachments: agents that create them need this additional role. */
  async function letNodesAttach(): Promise<void> {
    const apiGroup = groupName(cluster.dialect, { group: "rbac.authorization", branded: true });
    const name = "test:attaching-nodes";
    const rule = {
      apiGroups: [groupName(cluster.dialect, { group: "storage", branded: true })],
      resources: ["volumeattachments"],
      verbs: ["create", "delete"],
    };
    await cluster.client.of(kinds.clusterRoles).create({ metadata: { name }, rules: [rule] });
    await cluster.client.of(kinds.clusterRoleBindings).create({
      metadata: { name },
      roleRef: { apiGroup, kind: "ClusterRole", name },
      subjects: [{ apiGroup, kind: "Group", name: "system:nodes" }],
    });
  }

  /** Creates a volume and a claim that are bound to each other, as a controller would bind them. */
  async function bound(name: string, volumeMode: "Filesystem" | "Block"): Promise<void> {
    const quantity = (storage: string) => ({ storage });
    const claims = `/api/v1/namespaces/${home.namespace}/persistentvolumeclaims`;
    const claim = (await cluster.client.request("POST", claims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: quantity("1Gi") },
        volumeName: name,
        volumeMode,
        storageClassName: "",
      },
    })) as { metadata: { uid: string } };
    await cluster.client.request("POST", "/api/v1/persistentvolumes", {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name },
      spec: {
        capacity: quantity("2Gi"),
        accessModes: ["ReadWriteOnce"],
        volumeMode,
        csi: { driver, volumeHandle: name },
        claimRef: {
          kind: "PersistentVolumeClaim",
          namespace: home.namespace,
          name,
          uid: claim.metadata.uid,
        },
      },
    });
    const patch = (to: string, status: object) =>
      cluster.client.request("PATCH", `${to}/status`, { status }, mergePatch);
    await patch(`/api/v1/persistentvolumes/${name}`, { phase: "Bound" });
    await patch(`${claims}/${name}`, { phase: "Bound", capacity: quantity("1Gi") });
  }
  const volumeOf = (claimName: string) => ({
    volumes: [{ name: "v", persistentVolumeClaim: { claimName } }],
  });

  test("a volume is attached, staged, published, expanded and measured, and released in reverse order", async () => {
    await mkdir(join(cluster.folder, "files"));
    await writeFile(join(cluster.folder, "files", "hello"), "from the disk\n");
    await bound("files", "Filesystem");
    const name = await home.script(
      "cat /v/hello; trap 'exit 0' TERM; while :; do sleep 0.1; done",
      { volumeMounts: [{ name: "v", mountPath: "/v" }] },
      volumeOf("files"),
    );
    const { metadata } = await home.ready(name);
    await home.printed(name, "from the disk\n");
    assert.deepEqual(
      new Set(calls),
      new Set(["attach", "stage files at 7", "publish files", "expand files"]),
    );
    const claim = await cluster.client.request(
      "GET",
      `/api/v1/namespaces/${home.namespace}/persistentvolumeclaims/files`,
    );
    assert.equal((claim as { status: { capacity: { storage: string } } }).status.capacity.storage, "2Gi");
    await until("the volume is measured by its driver", async () => {
      const { body } = await cluster.apiserver.call(
        "GET",
        `/api/v1/nodes/${cluster.nodeName}/proxy/stats/summary`,
      );
      return /"usedBytes":\s*1024,/.test(body) || /"capacityBytes":\s*4096/.test(body);
    });
    calls.length = 0;
    await home.remove(name);
    await until("the volume is detached", async () => {
      const { items } = await cluster.client.of(kinds.volumeAttachments).list();
      return items.length === 0;
    });
    assert.deepEqual(calls, ["unpublish files", "unstage files"]);
    assert.ok(!(await readFile("/proc/self/mountinfo", "utf8")).includes(`/pods/${metadata.uid}/volumes/`));
  });

  test("a block volume becomes a device in the container", async () => {
    await run("dd", ["if=/dev/zero", `of=${device}`, "bs=1M", "count=1", "conv=fsync"]);
    await bound("blocks", "Block");
    const printed = await home.output(
      "test -b /dev/v && echo written | dd of=/dev/v conv=fsync 2>/dev/null; head -c 8 /dev/v",
      { volumeDevices: [{ name: "v", devicePath: "/dev/v" }] },
      volumeOf("blocks"),
    );
    assert.equal(printed, "written\n");
  });
});
