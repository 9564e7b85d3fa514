// Node shutdown: the login manager signals it to the agent, which ends its pods in the order of their
// priority while its inhibitor lock delays the shutdown, and records how each of them ended.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kinds } from "#client";
import {
  type Cluster,
  type LoginManager,
  type PodHome,
  loginManager,
  needsCluster,
  podHome,
  startCluster,
  endsWhenTold,
  until,
} from "#kit";

describe("a node that shuts down", needsCluster(), () => {
  let cluster: Cluster;
  let home: PodHome;
  let logins: LoginManager;
  let folder = "";
  const environment = { ...process.env };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "orch-logins-"));
    logins = await loginManager(folder);
    Object.assign(process.env, logins.environment);
    cluster = await startCluster({
      agentConfig: { shutdownGracePeriod: "20s", shutdownGracePeriodCriticalPods: "10s" },
    });
    home = await podHome(cluster);
  });
  after(async () => {
    Object.assign(process.env, environment);
    home?.stop();
    await cluster?.stop();
    await logins?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  const isReady = async (): Promise<boolean> => {
    const { status } = await cluster.client.of(kinds.nodes).get(cluster.nodeName);
    return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
  };

  test("pods end in the order of their priority, according to their last status, before the lock is released", async () => {
    await until("the lock is held", async () => (await logins.lock()).includes("held"));
    const ending = (code: number, spec: object = {}): Promise<string> =>
      home.create({
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 30,
        ...spec,
        containers: [endsWhenTold(code)],
      });
    const plain = await ending(0);
    const failing = await ending(3);
    const critical = await ending(0, { priorityClassName: "system-node-critical" });
    for (const name of [plain, failing, critical]) await home.ready(name);
    const plan = await cluster.apiserver.call("GET", `/api/v1/nodes/${cluster.nodeName}/proxy/shutdown/plan`);
    const { groups } = JSON.parse(plan.body) as { groups: { pods: { pod: string }[] }[] };
    assert.deepEqual(
      groups.map(({ pods }) => pods.map(({ pod }) => pod).toSorted()),
      [
        [plain, failing].map((name) => `${home.namespace}/${name}`).toSorted(),
        [`${home.namespace}/${critical}`],
      ],
    );
    logins.prepareForShutdown(true);
    const [well, badly, last] = await Promise.all([plain, failing, critical].map((name) => home.ended(name)));
    assert.deepEqual(
      [well, badly, last].map((pod) => [pod?.status?.phase, pod?.status?.reason]),
      [
        ["Succeeded", undefined],
        ["Failed", "Terminated"],
        ["Succeeded", undefined],
      ],
    );
    const endOf = (pod: typeof well): number =>
      Date.parse(pod?.status?.containerStatuses?.[0]?.state.terminated?.finishedAt ?? "");
    assert.ok(endOf(last) >= Math.max(endOf(well), endOf(badly)), "the critical pod ended last");
    await until("the lock is released", async () => (await logins.lock()).includes("released"));
    assert.equal(await isReady(), false);
    const late = await home.ended(await home.script("true"));
    assert.deepEqual([late.status?.phase, late.status?.reason], ["Failed", "NodeShutdown"]);
  });

  test("the node comes back: its pods stay ended, and new ones run", async () => {
    const ended = (await cluster.client.of(kinds.pods).list({ namespace: home.namespace })).items;
    await cluster.agent.kill9();
    await cluster.agent.start();
    await until("the node is ready again", isReady);
    assert.equal(await home.output("echo up"), "up\n");
    for (const { metadata, status } of ended) {
      const now = home.get(metadata.name!);
      assert.deepEqual(
        [now?.status?.phase, now?.status?.containerStatuses?.[0]?.restartCount],
        [status?.phase, status?.containerStatuses?.[0]?.restartCount],
      );
    }
  });

  test("a cancelled shutdown leaves the node unchanged", async () => {
    const held = (await logins.lock()).filter((word) => word === "held").length;
    logins.prepareForShutdown(true);
    await until("the node says so", async () => !(await isReady()));
    logins.prepareForShutdown(false);
    await until("the node is ready again", isReady);
    await until("the lock is held again", async () => {
      return (await logins.lock()).filter((word) => word === "held").length > held;
    });
    assert.equal(await home.output("echo on"), "on\n");
  });
});
