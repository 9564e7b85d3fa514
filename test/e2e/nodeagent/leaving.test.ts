// Pods of every kind are deleted while their agent is killed at critical moments. Whatever it had done by
// then, the next agent finishes the deletion.
import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { kinds } from "#client";
import { grpcRuntime } from "#cri";
import { type Cluster, freePort, needsCluster, type PodHome, podHome, startCluster, until } from "#kit";

const forever = "trap 'exit 0' TERM; while :; do sleep 1; done";
const memory = {
  volumes: [{ name: "m", emptyDir: { medium: "Memory" } }],
  automountServiceAccountToken: true,
};
const mount = { volumeMounts: [{ name: "m", mountPath: "/m" }] };

describe("deletion of pods on a node whose agent is killed", needsCluster(), () => {
  let cluster: Cluster;
  let home: PodHome;
  let port: number;
  before(async () => {
    port = await freePort();
    cluster = await startCluster({ dialect: "kubernetes" });
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
  });

  /** Returns all pod resources on the node; the test's pods are its only ones. */
  async function left(): Promise<string[]> {
    const runtime = grpcRuntime({ endpoint: cluster.containerd.endpoint, timeoutMilliseconds: 60_000 });
    const { rootDir } = cluster.agent;
    try {
      const [sandboxes, containers] = [await runtime.listPodSandboxes(), await runtime.listContainers()];
      const mounts = (await readFile("/proc/self/mountinfo", "utf8"))
        .split("\n")
        .map((line) => line.split(" ")[4] ?? "");
      return [
        ...sandboxes.map(({ metadata }) => `sandbox of ${metadata?.name}`),
        ...containers.map(({ id }) => `container ${id}`),
        ...(await readdir(join(rootDir, "pods")).catch(() => [])).map((uid) => `folder of ${uid}`),
        ...mounts.filter((point) => point.startsWith(`${rootDir}/pods/`)).map((point) => `mount ${point}`),
        ...(await readdir("/var/log/pods"))
          .filter((name) => name.startsWith(`${home.namespace}_`))
          .map((name) => `logs ${name}`),
        ...(await groups()).map((path) => `control group ${path}`),
        ...(await readdir(join(cluster.containerd.folder, "ipam"), { recursive: true }))
          .filter((name) => /\d+\.\d+\.\d+\.\d+$/.test(name) && !name.includes("last_"))
          .map((name) => `address ${name}`),
      ];
    } finally {
      runtime.close();
    }
  }

  /** Returns the cgroups of pods, in all hierarchies. */
  async function groups(): Promise<string[]> {
    const trees = await readdir("/sys/fs/cgroup");
    const found = await Promise.all(
      trees.map((tree) =>
        readdir(join("/sys/fs/cgroup", tree, cluster.containerd.cgroupRoot), { recursive: true }).catch(
          () => [],
        ),
      ),
    );
    return found.flat().filter((path) => /\bpod[0-9a-f-]{32,36}$/.test(path));
  }

  const file = (): string => join(cluster.agent.staticPods, "s.json");
  /** A pod with a fixed name and a host port, like pods that are created again under the same name. */
  const holder = (): Promise<string> =>
    home.script(forever, { ...mount, ports: [{ containerPort: 80, hostPort: port }] }, memory, {
      name: "holder",
    });

  async function make(): Promise<string[]> {
    const metadata = { name: "s", namespace: home.namespace };
    await writeFile(
      file(),
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata,
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [{ name: "c", image: home.image, command: ["sh", "-c", forever] }],
        },
      }),
    );
    const many = (count: number, one: () => Promise<string>): Promise<string>[] =>
      Array.from({ length: count }, one);
    const running = await Promise.all([
      ...many(20, () => home.script(forever, mount, memory)),
      ...many(2, () =>
        home.script(forever, { lifecycle: { preStop: { exec: { command: ["sleep", "0.3"] } } } }),
      ),
      ...many(2, () => home.script(forever, {}, { hostNetwork: true })),
      ...many(2, () => home.script("sleep 100", {}, { terminationGracePeriodSeconds: 2 })),
      holder(),
    ]);
    const over = await Promise.all([
      home.script("exit 0", mount, memory),
      home.script("exit 1"),
      home.script(forever, mount, { ...memory, activeDeadlineSeconds: 1 }),
    ]);
    await Promise.all([
      ...running.map((name) => home.ready(name)),
      ...over.map((name) => home.ended(name)),
      home.ready(`s-${cluster.nodeName}`),
    ]);
    return [...running, ...over];
  }

  const firstGone = (names: readonly string[], count: number): Promise<unknown> => {
    let missing = count;
    return new Promise<void>((resolve, reject) => {
      for (const name of names)
        home.gone(name).then(() => {
          if (--missing === 0) resolve();
        }, reject);
    });
  };

  const moments: readonly [when: string, wait: (names: readonly string[]) => Promise<unknown>][] = [
    ["before any pod terminates", async () => undefined],
    ["while their containers are being stopped", () => sleep(150)],
    ["when the first pod is removed", (names) => firstGone(names, 1)],
    ["when half of the pods are removed", (names) => firstGone(names, names.length / 2)],
    ["when the last pod is removed", (names) => firstGone(names, names.length)],
  ];
  for (const [when, wait] of moments) {
    test(`the agent is killed ${when}: the next agent removes everything of the pods from the node`, async () => {
      const names = await make();
      const { namespace } = home;
      await Promise.all([
        rm(file()),
        ...names.map((name) => cluster.client.of(kinds.pods).delete(name, { namespace })),
      ]);
      await wait(names);
      await cluster.agent.kill9();
      await cluster.agent.start();
      // Kills the next agent, too, while it cleans up.
      await sleep(400);
      await cluster.agent.kill9();
      await cluster.agent.start();
      await Promise.all([...names, `s-${cluster.nodeName}`].map((name) => home.gone(name)));
      await until(
        async () => `left behind: ${(await left()).join(", ")}`,
        async () => (await left()).length === 0,
      );
    });
  }

  test("a pod of the same name follows immediately, with the same host port", async () => {
    await holder();
    await home.ready("holder");
    for (let round = 0; round < 4; round++) {
      await home.remove("holder");
      await holder();
      await home.until(
        "holder",
        "is ready again",
        (pod) =>
          !pod.metadata.deletionTimestamp &&
          pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true,
      );
    }
    await home.remove("holder");
    await until(
      async () => `left behind: ${(await left()).join(", ")}`,
      async () => (await left()).length === 0,
    );
  });
});
