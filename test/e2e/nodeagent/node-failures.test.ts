// Failures on a node: the agent, the runtime and the API server die or are unavailable, the disk is full,
// many pods are created at once. Nothing may be lost, leaked or flip between ready and unready.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Pod } from "#api";
import { kinds } from "#client";
import { grpcRuntime } from "#cri";
import { type Cluster, needsCluster, type PodHome, podHome, startCluster, until } from "#kit";

const run = promisify(execFile);
const outageSeconds = Number(process.env["ORCH_E2E_OUTAGE_SECONDS"] ?? "8");
const forever = "trap 'exit 0' TERM; while :; do sleep 1; done";
const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
const idOf = (pod: Pod): string | undefined => pod.status?.containerStatuses?.[0]?.containerID;

describe("failures on a node", needsCluster(), () => {
  let cluster: Cluster;
  let home: PodHome;
  let disk: string;
  let steady: string[] = [];
  let containers: (string | undefined)[] = [];
  before(async () => {
    disk = await mkdtemp(join(tmpdir(), "orch-disk-"));
    await run("mount", ["-t", "tmpfs", "-o", "size=24m", "orch-test", disk]);
    cluster = await startCluster({
      dialect: "kubernetes",
      agentRoot: disk,
      agentConfig: {
        evictionHard: {
          "memory.available": "0%",
          "nodefs.available": "0%",
          "nodefs.inodesFree": "0%",
          "imagefs.available": "0%",
        },
      },
    });
    home = await podHome(cluster);
    steady = await Promise.all(
      Array.from({ length: 30 }, () => home.script(forever, {}, { restartPolicy: "Always" })),
    );
    containers = (await Promise.all(steady.map((name) => home.ready(name)))).map(idOf);
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
    await run("umount", ["-l", disk]).catch(() => undefined);
    await rm(disk, { recursive: true, force: true });
  });

  const sandboxes = async (): Promise<string[]> => {
    const runtime = grpcRuntime({ endpoint: cluster.containerd.endpoint, timeoutMilliseconds: 60_000 });
    try {
      return (await runtime.listPodSandboxes()).map(({ metadata }) => metadata?.uid ?? "");
    } finally {
      runtime.close();
    }
  };
  /** Asserts that the thirty pods were ready all the time since `from`, in the same containers. */
  const assertSteady = (from: ReadonlyMap<string, number>): void => {
    for (const [at, name] of steady.entries()) {
      const seen = home.history(name).slice(from.get(name));
      assert.ok(seen.every(isReady), `${name} was not ready for a while`);
      assert.equal(idOf(home.get(name)!), containers[at], `${name} has another container`);
      assert.equal(home.get(name)?.status?.containerStatuses?.[0]?.restartCount, 0);
    }
  };
  const marked = (): Map<string, number> => new Map(steady.map((name) => [name, home.history(name).length]));
  const make = (): Promise<string> => home.script(forever);

  test("the agent is killed under thirty pods and comes back: none restarts, none flips, and changes made meanwhile are applied", async () => {
    const from = marked();
    const leaving = await make();
    await home.ready(leaving);
    await cluster.agent.kill9();
    const coming = await make();
    await cluster.client.of(kinds.pods).delete(leaving, { namespace: home.namespace });
    await cluster.agent.start();
    await Promise.all([home.ready(coming), home.gone(leaving)]);
    // By now every pod has been synced once more.
    await sleep(2000);
    assertSteady(from);
    assert.equal((await sandboxes()).length, 31);
    await home.remove(coming);
  });

  test("the agent is restarted gracefully: none restarts, none flips", async () => {
    const from = marked();
    const probed = await home.script(forever, {
      readinessProbe: { exec: { command: ["true"] }, periodSeconds: 1 },
    });
    await home.ready(probed);
    await cluster.agent.restart();
    await home.remove(probed);
    const next = await make();
    await home.ready(next);
    assertSteady(from);
    await home.remove(next);
  });

  test("after a restart of the agent, volume files of a running pod follow their objects, and its changes to its own volume stay", async () => {
    const { namespace } = home;
    const maps = cluster.client.of(kinds.configMaps);
    await maps.create({ metadata: { name: "followed" }, data: { word: "one" } }, { namespace });
    const volumes = [
      { name: "v", configMap: { name: "followed" } },
      { name: "e", emptyDir: {} },
    ];
    const volumeMounts = ["v", "e"].map((name) => ({ name, mountPath: `/${name}` }));
    const name = await home.script(
      `chmod 700 /e; until grep two /v/word; do sleep 0.2; done; ls -ld /e; ${forever}`,
      { volumeMounts },
      { volumes },
    );
    await home.ready(name);
    await cluster.agent.restart();
    await maps.patch("followed", "merge", { data: { word: "two" } }, { namespace });
    await until("the file has changed", async () => /two\ndrwx------/.test(await home.logs(name)));
    await home.remove(name);
  });

  test("a pod whose object was deleted while the agent was down is terminated", async () => {
    const orphan = await make();
    const { metadata } = await home.ready(orphan);
    await cluster.agent.kill9();
    await cluster.client.of(kinds.pods).delete(orphan, { namespace: home.namespace, graceSeconds: 0 });
    await cluster.agent.start();
    await until("it has ended", async () => !(await sandboxes()).includes(metadata.uid ?? ""));
  });

  test("containerd is killed and comes back: containers keep running, the node reports it, and syncing continues", async () => {
    const from = marked();
    await cluster.containerd.kill();
    const waiting = await make();
    await sleep(3000);
    await cluster.containerd.start();
    await home.ready(waiting);
    await home.remove(waiting);
    assertSteady(from);
    await until("the node is ready again", async () => {
      const node = await cluster.client.of(kinds.nodes).get(cluster.nodeName);
      return node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    });
  });

  test("containers of others on the same runtime are left alone", async () => {
    const runtime = grpcRuntime({ endpoint: cluster.containerd.endpoint, timeoutMilliseconds: 60_000 });
    try {
      const foreign = {
        metadata: { name: "foreign", uid: "foreign-uid", namespace: "elsewhere", attempt: 0 },
        hostname: "",
        logDirectory: "",
        portMappings: [],
        labels: {},
        annotations: {},
      };
      const id = await runtime.runPodSandbox(foreign, "");
      await cluster.agent.restart();
      await home.remove(await make().then(async (name) => (await home.ready(name)).metadata.name ?? ""));
      const left = (await runtime.listPodSandboxes()).find((sandbox) => sandbox.id === id);
      assert.equal(left?.state, 0);
      await runtime.stopPodSandbox(id);
      await runtime.removePodSandbox(id);
    } finally {
      runtime.close();
    }
  });

  test(`the API server is down for ${outageSeconds} s: pods and restarts continue, and all changes are reported afterwards`, async () => {
    const from = marked();
    const busy = await home.script(
      `until [ -e /tmp/stop ]; do sleep 0.2; done; exit 3`,
      {},
      { restartPolicy: "Always" },
    );
    const first = idOf(await home.ready(busy));
    await cluster.apiserver.kill9();
    const runtime = grpcRuntime({ endpoint: cluster.containerd.endpoint, timeoutMilliseconds: 60_000 });
    await runtime.execSync((first ?? "").replace("containerd://", ""), ["touch", "/tmp/stop"], 5);
    runtime.close();
    await sleep(outageSeconds * 1000);
    await cluster.apiserver.restart();
    const later = await home.until(
      busy,
      "is reported as restarted",
      (seen) => seen.status?.containerStatuses?.[0]?.restartCount === 1,
    );
    assert.equal(later.status?.containerStatuses?.[0]?.lastState.terminated?.exitCode, 3);
    const next = await make();
    await home.ready(next);
    await Promise.all([home.remove(next), home.remove(busy)]);
    assertSteady(from);
  });

  test("the disk of the agent is full: running pods do not notice, new ones wait with an event and start when there is room", async () => {
    const from = marked();
    await cluster.client
      .of(kinds.configMaps)
      .create(
        { metadata: { name: "big" }, data: { file: "x".repeat(400_000) } },
        { namespace: home.namespace },
      );
    await run("dd", ["if=/dev/zero", `of=${join(disk, "filler")}`, "bs=64k"]).catch(() => undefined);
    const blocked = await home.script(
      forever,
      { volumeMounts: [{ name: "v", mountPath: "/v" }] },
      { volumes: [{ name: "v", configMap: { name: "big" } }] },
    );
    await home.events(blocked, "FailedMount");
    await rm(join(disk, "filler"));
    await home.ready(blocked);
    assert.equal(await home.exec(blocked, "sh", "-c", "wc -c < /v/file"), "400000\n");
    await home.remove(blocked);
    assertSteady(from);
  });

  test("fifty pods made and deleted at once leave nothing behind", async () => {
    const from = marked();
    const spec = {
      volumes: [{ name: "m", emptyDir: { medium: "Memory" } }],
      automountServiceAccountToken: true,
    };
    const mount = { volumeMounts: [{ name: "m", mountPath: "/m" }] };
    const names = await Promise.all(Array.from({ length: 50 }, () => home.script(forever, mount, spec)));
    // Some are deleted before they run, some after.
    const early = names.slice(0, 15);
    const gone = early.map((name) => home.remove(name));
    const ready = await Promise.all(names.slice(15).map((name) => home.ready(name)));
    assert.equal(new Set(ready.map(({ status }) => status?.podIP)).size, 35, "an address was assigned twice");
    await Promise.all([...gone, ...names.slice(15).map((name) => home.remove(name))]);
    const uids = new Set(names.map((name) => home.get(name)?.metadata.uid ?? ""));
    const left = async (): Promise<string[]> => [
      ...(await sandboxes()).filter((uid) => uids.has(uid)),
      ...(await readdir(join(disk, "pods"))).filter((uid) => uids.has(uid)),
      ...(await readFile("/proc/self/mountinfo", "utf8"))
        .split("\n")
        .filter((line) => [...uids].some((uid) => line.includes(uid))),
      ...(await readdir("/var/log/pods")).filter((folder) => uids.has(folder.split("_")[2] ?? "")),
      ...(await groups(cluster.containerd.cgroupRoot)).filter((path) =>
        [...uids].some((uid) => path.includes(uid)),
      ),
    ];
    await until(
      async () => `left behind: ${(await left()).slice(0, 5).join(", ")}`,
      async () => (await left()).length === 0,
    );
    assertSteady(from);
  });

  test("a pod's own failures do not spread: a folder in its way, a broken sandbox, a killed process", async () => {
    const broken = await home.script(forever, {}, { restartPolicy: "Always" });
    const { metadata } = await home.ready(broken);
    const runtime = grpcRuntime({ endpoint: cluster.containerd.endpoint, timeoutMilliseconds: 60_000 });
    const [sandbox] = (await runtime.listPodSandboxes()).filter(
      ({ metadata: of }) => of?.uid === metadata.uid,
    );
    await runtime.stopPodSandbox(sandbox?.id ?? "");
    runtime.close();
    // The runtime ends the container before the sandbox: an agent that syncs in between starts the container
    // once in vain.
    await home.until(
      broken,
      "runs in a new sandbox",
      (seen) => isReady(seen) && (seen.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
    );
    await home.events(broken, "SandboxChanged");
    const folder = join(disk, "pods", metadata.uid ?? "", "volumes", "stray");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "file"), "");
    await home.remove(broken);
  });
});

/** Returns the cgroups below one, in all hierarchies. */
async function groups(root: string): Promise<string[]> {
  const trees = await readdir("/sys/fs/cgroup");
  const found = await Promise.all(
    trees.map((tree) =>
      readdir(join("/sys/fs/cgroup", tree, root), { recursive: true, withFileTypes: true }).catch(() => []),
    ),
  );
  return found.flat().flatMap((entry) => (entry.isDirectory() ? [join(entry.parentPath, entry.name)] : []));
}
