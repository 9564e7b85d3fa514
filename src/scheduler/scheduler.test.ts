import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiClient, kinds } from "#client";
import { addNode, addPod, withScheduler } from "./cluster.fixture.ts";

const nodeOf = async (client: ApiClient, name: string): Promise<string | undefined> =>
  (await client.of(kinds.pods).get(name, { namespace: "default" })).spec.nodeName;

test("pods are bound to the node and an event is recorded", () =>
  withScheduler(async ({ client, until }) => {
    await addNode(client, "n1");
    await addPod(client, "a");
    assert.equal(await until(() => nodeOf(client, "a")), "n1");
    const event = await until(async () =>
      (await client.of(kinds.events).list({ namespace: "default" })).items.find(
        ({ reason }) => reason === "Scheduled",
      ),
    );
    assert.equal(event.note, "Successfully assigned default/a to n1");
  }));

test("an unschedulable pod is reported, and bound once resources are free", () =>
  withScheduler(async ({ client, until }) => {
    await addNode(client, "small", "1");
    await addPod(client, "big", "1500m");
    const pods = client.of(kinds.pods);
    const condition = await until(async () =>
      (await pods.get("big", { namespace: "default" })).status.conditions?.find(
        ({ type }) => type === "PodScheduled",
      ),
    );
    assert.deepEqual(
      [condition.status, condition.reason, condition.message],
      [
        "False",
        "Unschedulable",
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod..",
      ],
    );
    await until(async () =>
      (await client.of(kinds.events).list({ namespace: "default" })).items.find(
        ({ reason, type }) => reason === "FailedScheduling" && type === "Warning",
      ),
    );
    await addNode(client, "large", "4");
    assert.equal(await until(() => nodeOf(client, "big")), "large");
  }));

test("no more pods are bound than fit, even if all are created at once", () =>
  withScheduler(async ({ client, until }) => {
    await addNode(client, "n1", "1");
    await Promise.all(["a", "b", "c", "d"].map((name) => addPod(client, name, "400m")));
    const pods = async () => (await client.of(kinds.pods).list({ namespace: "default" })).items;
    const decided = await until(async () => {
      const items = await pods();
      return (
        items.every(
          ({ spec, status }) =>
            spec.nodeName || status.conditions?.some(({ reason }) => reason === "Unschedulable"),
        ) && items
      );
    });
    assert.equal(decided.filter(({ spec }) => spec.nodeName).length, 2);
  }));

test("pods of another scheduler and gated pods are left alone", () =>
  withScheduler(async ({ client, until }) => {
    await addNode(client, "n1");
    await addPod(client, "foreign", "1m", { schedulerName: "mine" });
    await addPod(client, "gated", "1m", { schedulingGates: [{ name: "example.com/wait" }] });
    await addPod(client, "a");
    await until(() => nodeOf(client, "a"));
    assert.equal(await nodeOf(client, "foreign"), undefined);
    assert.equal(await nodeOf(client, "gated"), undefined);
    await client
      .of(kinds.pods)
      .patch("gated", "merge", { spec: { schedulingGates: [] } }, { namespace: "default" });
    assert.equal(await until(() => nodeOf(client, "gated")), "n1");
  }));

test("a binding that fails on the server is retried", () => {
  let met: () => number;
  return withScheduler(
    async ({ client, until }) => {
      await addNode(client, "n1");
      await addPod(client, "a");
      assert.equal(await until(() => nodeOf(client, "a")), "n1");
      assert.equal(met(), 2);
      const failed = await until(async () =>
        (await client.of(kinds.events).list({ namespace: "default" })).items.find(
          ({ reason }) => reason === "FailedScheduling",
        ),
      );
      assert.match(failed.note ?? "", /^running Bind plugin "DefaultBinder": /);
    },
    {
      clientFor: ({ kit }) => {
        const { client, faults } = kit.faultyClient({ name: "system:scheduler", groups: ["system:masters"] });
        faults.plan({ answer: 500 }, { when: ({ path }) => path.endsWith("/binding"), times: 2 });
        met = () => faults.injected.length;
        return client;
      },
    },
  );
});

test("a pod that is being deleted is not placed, and an event is recorded", () =>
  withScheduler(async ({ client, until }) => {
    const pods = client.of(kinds.pods);
    await pods.create({
      metadata: { name: "held", namespace: "default", finalizers: ["example.com/hold"] },
      spec: { containers: [{ name: "c", image: "i", resources: {} }] },
    });
    const noted = (text: string) => async (): Promise<boolean> =>
      (await client.of(kinds.events).list({ namespace: "default" })).items.some(({ note }) => note === text);
    await until(noted("no nodes available to schedule pods"));
    await pods.delete("held", { namespace: "default" });
    await until(noted("skip schedule deleting pod: default/held"));
    await addNode(client, "n1");
    await addPod(client, "other");
    await until(() => nodeOf(client, "other"));
    assert.equal(await nodeOf(client, "held"), undefined);
  }));

test("a nomination that has become void is removed, and its node given to others", () =>
  withScheduler(async ({ client, until }) => {
    await addNode(client, "n1", "1");
    const pods = client.of(kinds.pods);
    const classes = client.of(kinds.priorityClasses);
    await classes.create({ metadata: { name: "high" }, value: 1000 });
    await addPod(client, "nominated", "2", { priorityClassName: "high", schedulingGates: [{ name: "a/b" }] });
    const status = { nominatedNodeName: "n1" };
    await pods.patch("nominated", "merge", { status }, { namespace: "default", subresource: "status" });
    await pods.patch("nominated", "merge", { spec: { schedulingGates: [] } }, { namespace: "default" });
    await until(async () => {
      const found = await pods.get("nominated", { namespace: "default" });
      return found.status.conditions?.length && found.status.nominatedNodeName === undefined;
    });
    await addPod(client, "other", "500m");
    assert.equal(await until(() => nodeOf(client, "other")), "n1");
  }));

test("a pod that was spread over a removed node is retried", () =>
  withScheduler(async ({ client, until }) => {
    for (const name of ["n1", "n2"]) {
      await addNode(client, name, name === "n2" ? "100m" : "2");
      await client.of(kinds.nodes).patch(name, "merge", { metadata: { labels: { host: name } } });
    }
    const metadata = { labels: { app: "a" } };
    const topologySpreadConstraints = [
      {
        maxSkew: 1,
        topologyKey: "host",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: metadata.labels },
      },
    ];
    await addPod(client, "first", "500m", { topologySpreadConstraints }, metadata);
    assert.equal(await until(() => nodeOf(client, "first")), "n1");
    await addPod(client, "second", "500m", { topologySpreadConstraints }, metadata);
    await until(async () =>
      (await client.of(kinds.pods).get("second", { namespace: "default" })).status.conditions?.some(
        ({ reason }) => reason === "Unschedulable",
      ),
    );
    await client.of(kinds.nodes).delete("n2");
    assert.equal(await until(() => nodeOf(client, "second")), "n1");
  }));
