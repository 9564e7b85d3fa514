import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock, virtualClock } from "#base";
import { type ApiClient, kinds } from "#client";
import { type RunningServer, startServer } from "#apiserver";
import { clusterView } from "#controllerkit";
import { runScheduler } from "./scheduler.ts";

/** Asks again until it holds; the test's own time limit ends what never does. */
async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await ask();
    if (found) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const addNode = async (client: ApiClient, name: string, cpu = "2"): Promise<void> => {
  const nodes = client.of(kinds.nodes);
  await nodes.create({ metadata: { name }, spec: {} });
  const taints = null;
  await nodes.patch(name, "merge", { spec: { taints } });
  const status = {
    allocatable: { cpu, memory: "4Gi", pods: "10" },
    capacity: { cpu, memory: "4Gi", pods: "10" },
    conditions: [{ type: "Ready", status: "True" }],
  };
  await nodes.patch(name, "merge", { status }, { subresource: "status" });
};
const addPod = async (client: ApiClient, name: string, cpu = "100m", more: object = {}): Promise<void> => {
  await client.of(kinds.pods).create({
    metadata: { name, namespace: "default" },
    spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu } } }], ...more },
  });
};
const nodeOf = async (client: ApiClient, name: string): Promise<string | undefined> =>
  (await client.of(kinds.pods).get(name, { namespace: "default" })).spec.nodeName;

async function withScheduler(
  run: (server: RunningServer, client: ApiClient) => Promise<void>,
  clock = systemClock,
): Promise<void> {
  await using server = await startServer({
    store: "memory",
    flags: ["--disable-admission-plugins=ServiceAccount"],
  });
  const stopping = new AbortController();
  const { client } = server;
  const running = runScheduler({
    client,
    clock,
    signal: stopping.signal,
    log: silentLog,
    dialect: client.dialect,
    view: clusterView({ client, clock, signal: stopping.signal, log: silentLog }),
  });
  try {
    await run(server, client);
  } finally {
    stopping.abort();
    await running;
  }
}

test("pods are bound to the node, and an event says so", { timeout: 20_000 }, () =>
  withScheduler(async (_server, client) => {
    await addNode(client, "n1");
    await addPod(client, "a");
    assert.equal(await until(() => nodeOf(client, "a")), "n1");
    const event = await until(async () =>
      (await client.of(kinds.events).list({ namespace: "default" })).items.find(
        ({ reason }) => reason === "Scheduled",
      ),
    );
    assert.equal(event.note, "Successfully assigned default/a to n1");
  }),
);

test("a pod that fits nowhere is said so, and bound when there is room", { timeout: 20_000 }, () =>
  withScheduler(async (_server, client) => {
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
  }),
);

test("no more pods are bound than fit, though all come at once", { timeout: 20_000 }, () =>
  withScheduler(async (_server, client) => {
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
  }),
);

test("pods of another scheduler and gated pods are left alone", { timeout: 20_000 }, () =>
  withScheduler(async (_server, client) => {
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
  }),
);

test("a binding that the server fails is tried again", { timeout: 20_000 }, async () => {
  const clock = virtualClock(Date.now());
  await using server = await startServer({
    store: "memory",
    flags: ["--disable-admission-plugins=ServiceAccount"],
  });
  const { client, faults } = server.kit.faultyClient({
    name: "system:scheduler",
    groups: ["system:masters"],
  });
  faults.plan({ answer: 500 }, { when: ({ path }) => path.endsWith("/binding"), times: 2 });
  const stopping = new AbortController();
  const running = runScheduler({
    client,
    clock,
    signal: stopping.signal,
    log: silentLog,
    dialect: client.dialect,
    view: clusterView({ client, clock, signal: stopping.signal, log: silentLog }),
  });
  await addNode(server.client, "n1");
  await addPod(server.client, "a");
  const node = await until(async () => {
    await clock.advance(100);
    return await nodeOf(server.client, "a");
  });
  assert.equal(node, "n1");
  assert.equal(faults.met.length, 2);
  const failed = await until(async () =>
    (await server.client.of(kinds.events).list({ namespace: "default" })).items.find(
      ({ reason }) => reason === "FailedScheduling",
    ),
  );
  assert.match(failed.note ?? "", /^running Bind plugin "DefaultBinder": /);
  stopping.abort();
  await running;
});

test("a pod that is being deleted is not placed, and an event says so", { timeout: 20_000 }, () =>
  withScheduler(async (_server, client) => {
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
  }),
);
