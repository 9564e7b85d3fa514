// The node object and the pods that the agent creates itself: registration, lease, conditions, static pods
// and their mirror pods.
import assert from "node:assert/strict";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { kinds } from "#client";
import { type Cluster, needsCluster, type PodHome, podHome, startCluster, until } from "#kit";

describe("the node", needsCluster(), () => {
  let cluster: Cluster;
  let home: PodHome;
  before(async () => {
    cluster = await startCluster({
      dialect: "kubernetes",
      agentFlags: ["--node-labels=tier=test,node.kubernetes.io/kind=small"],
      agentConfig: {
        maxPods: 40,
        kubeReserved: { cpu: "100m", memory: "64Mi" },
        systemReserved: { cpu: "100m" },
        registerWithTaints: [{ key: "own", value: "yes", effect: "PreferNoSchedule" }],
        nodeStatusUpdateFrequency: "1s",
        nodeLeaseDurationSeconds: 8,
      },
    });
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
  });
  const node = () => cluster.client.of(kinds.nodes).get(cluster.nodeName);
  const written = async (name: string, text: string): Promise<void> => {
    await writeFile(join(cluster.agent.staticPods, `.${name}`), text);
    await rename(join(cluster.agent.staticPods, `.${name}`), join(cluster.agent.staticPods, name));
  };
  const manifest = (name: string, script: string): string =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: home.namespace },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: "c", image: home.image, command: ["sh", "-c", script] }],
      },
    });

  test("it is registered with labels, taints, addresses, capacity and allocatable resources", async () => {
    const { metadata, spec, status } = await node();
    assert.equal(metadata.labels?.["tier"], "test");
    assert.equal(metadata.labels?.["node.kubernetes.io/kind"], "small");
    assert.equal(metadata.labels?.["kubernetes.io/hostname"], "n1");
    assert.ok(spec?.taints?.some(({ key, effect }) => key === "own" && effect === "PreferNoSchedule"));
    assert.deepEqual(status?.addresses, [
      { type: "InternalIP", address: cluster.nodeIp },
      { type: "Hostname", address: "n1" },
    ]);
    assert.equal(status?.capacity?.["pods"], "40");
    const milli = (text: string): number =>
      text.endsWith("m") ? Number(text.slice(0, -1)) : Number(text) * 1000;
    assert.equal(milli(status?.capacity?.["cpu"] ?? "") - milli(status?.allocatable?.["cpu"] ?? ""), 200);
    assert.match(status?.nodeInfo?.containerRuntimeVersion ?? "", /^containerd:\/\//);
    assert.equal(
      (status?.daemonEndpoints as Record<string, { Port: number }> | undefined)?.["kubeletEndpoint"]?.Port,
      Number(new URL(cluster.agent.url).port),
    );
  });

  test("all of its conditions are reported, and Ready is True", async () => {
    const { status } = await node();
    assert.deepEqual(status?.conditions?.map(({ type, status: is }) => `${type} ${is}`).toSorted(), [
      "DiskPressure False",
      "MemoryPressure False",
      "PIDPressure False",
      "Ready True",
    ]);
  });

  test("its images are listed", async () => {
    const found = (await node()).status?.images?.flatMap(({ names }) => names ?? []) ?? [];
    assert.ok(found.includes(home.image));
  });

  test("its lease is renewed", async () => {
    const leases = cluster.client.of(kinds.leases);
    const at = { namespace: "kube-node-lease" };
    const first = await leases.get(cluster.nodeName, at);
    assert.equal(first.spec?.holderIdentity, cluster.nodeName);
    await until(
      "it is renewed",
      async () => (await leases.get(cluster.nodeName, at)).spec?.renewTime !== first.spec?.renewTime,
    );
  });

  test("a label that another client adds to the node stays", async () => {
    await cluster.client
      .of(kinds.nodes)
      .patch(cluster.nodeName, "merge", { metadata: { labels: { mine: "1" } } });
    await sleep(1500);
    assert.equal((await node()).metadata.labels?.["mine"], "1");
  });

  test("a static pod runs, is mirrored, follows changes of its file, and is removed with it", async () => {
    await written("one.json", manifest("fixed", "echo one; sleep 600"));
    const name = `fixed-${cluster.nodeName}`;
    const pod = await home.ready(name);
    assert.equal(pod.metadata.annotations?.["kubernetes.io/config.source"], "file");
    assert.ok(pod.metadata.annotations?.["kubernetes.io/config.mirror"]);
    assert.equal(pod.metadata.ownerReferences?.[0]?.kind, "Node");
    await home.printed(name, "one\n");
    await written("one.json", manifest("fixed", "echo two; sleep 600"));
    await home.until(name, "is the new one", (seen) => seen.metadata.uid !== pod.metadata.uid);
    const renewed = await home.ready(name);
    assert.notEqual(
      renewed.status?.containerStatuses?.[0]?.containerID,
      pod.status?.containerStatuses?.[0]?.containerID,
    );
    await until("the new one has spoken", async () => (await home.logs(name)) === "two\n");
    await rm(join(cluster.agent.staticPods, "one.json"));
    await home.gone(name);
  });

  test("a deleted mirror pod is created again, and its containers keep running", async () => {
    await written("two.json", manifest("steady", "sleep 600"));
    const name = `steady-${cluster.nodeName}`;
    const before_ = (await home.ready(name)).status?.containerStatuses?.[0]?.containerID;
    const uid = home.get(name)?.metadata.uid;
    await cluster.client.of(kinds.pods).delete(name, { namespace: home.namespace, graceSeconds: 0 });
    const back = await home.until(
      name,
      "is back",
      (seen) => seen.metadata.uid !== uid && seen.status?.containerStatuses?.[0]?.state.running !== undefined,
    );
    assert.equal(back.status?.containerStatuses?.[0]?.containerID, before_);
  });

  test("a file without a valid pod is reported in an event; hidden files are ignored", async () => {
    await written("bad.yaml", "kind: Pod\nspec: {containers: nonsense}\n");
    await writeFile(join(cluster.agent.staticPods, ".hidden.json"), manifest("hidden", "sleep 600"));
    await until("the invalid file is reported", async () => /bad\.yaml/.test(await cluster.agent.log()));
    await rm(join(cluster.agent.staticPods, "bad.yaml"));
    assert.equal(home.get(`hidden-${cluster.nodeName}`), undefined);
  });

  test("pods beyond the node's capacity are rejected", async () => {
    const others = await Promise.all(
      Array.from({ length: 42 }, () =>
        home.create({
          restartPolicy: "Never",
          containers: [{ image: "never.test/x:1", imagePullPolicy: "Never" }],
        }),
      ),
    );
    const ended = await Promise.race(others.map((name) => home.ended(name)));
    assert.equal(ended.status?.reason, "OutOfpods");
    await Promise.all(others.map((name) => home.remove(name, 0)));
  });
});
