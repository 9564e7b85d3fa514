// Several servers on one store: limits hold across servers, and shared work is done once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiError, virtualClock } from "#base";
import { type ApiClient, kinds } from "#client";
import { MemoryStore, StoreFull } from "#store";
import { type Several, startOn, startSeveral } from "./several.fixture.ts";

// prettier-ignore
const outcome = async (work: Promise<unknown>): Promise<string> => await work.then(() => "done", (error: ApiError) => error.reason);
const merge = { "content-type": "application/merge-patch+json" };
const core = "/api/v1/namespaces/default";
const clientsOf = ({ servers }: Several): readonly ApiClient[] => servers.map(({ client }) => client);

test("servers that share a store charge a quota up to its limit and not beyond", async () => {
  await using several = await startSeveral(3);
  const clients = clientsOf(several);
  const quota = { hard: { configmaps: "10" }, used: { configmaps: "0" } };
  await clients[0]!.request("POST", `${core}/resourcequotas`, {
    metadata: { name: "q" },
    spec: { hard: quota.hard },
  });
  await clients[0]!.request("PATCH", `${core}/resourcequotas/q/status`, { status: quota }, merge);
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      outcome(clients[at % 3]!.request("POST", `${core}/configmaps`, { metadata: { name: `c${at}` } })),
    ),
  );
  assert.deepEqual(outcomes.toSorted(), [
    ...Array<string>(20).fill("Forbidden"),
    ...Array<string>(10).fill("done"),
  ]);
  assert.equal((await clients[1]!.of(kinds.configMaps).list({ namespace: "default" })).items.length, 10);
});

test("servers that share a store evict exactly as many pods as a budget allows", async () => {
  await using several = await startSeveral(3, { flags: ["--disable-admission-plugins=ServiceAccount"] });
  const clients = clientsOf(several);
  const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  await clients[0]!.request("POST", budgets, {
    metadata: { name: "b" },
    spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } },
  });
  const status = {
    observedGeneration: 1,
    disruptionsAllowed: 4,
    currentHealthy: 9,
    desiredHealthy: 5,
    expectedPods: 9,
  };
  await clients[0]!.request("PATCH", `${budgets}/b/status`, { status }, merge);
  for (let at = 0; at < 9; at++) {
    await clients[0]!.request("POST", `${core}/pods`, {
      metadata: { name: `p${at}`, labels: { a: "b" } },
      spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
    });
    await clients[0]!.request(
      "PATCH",
      `${core}/pods/p${at}/status`,
      { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
      merge,
    );
  }
  const evict = (client: ApiClient, name: string): Promise<unknown> =>
    client.request("POST", `${core}/pods/${name}/eviction`, {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name },
    });
  const outcomes = await Promise.all(
    Array.from({ length: 9 }, (_, at) => outcome(evict(clients[at % 3]!, `p${at}`))),
  );
  assert.deepEqual(outcomes.toSorted(), [
    ...Array<string>(5).fill("TooManyRequests"),
    ...Array<string>(4).fill("done"),
  ]);
  const { items } = await clients[1]!.of(kinds.pods).list({ namespace: "default" });
  assert.equal(items.filter(({ metadata }) => metadata.deletionTimestamp).length, 4);
});

test("servers that start at the same time create the initial objects once, and do not rewrite each other's", async () => {
  const clock = virtualClock(Date.now());
  await using several = await startSeveral(3, { clock });
  const { entries, revision } = await several.store.read({ prefix: "/registry/" });
  assert.ok(entries.length > 50);
  for (let minute = 0; minute < 35; minute++) {
    await clock.advance(60_000);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  const changed = (await several.store.read({ prefix: "/registry/" })).entries
    .filter((entry) => entry.revision > revision)
    .map(({ key }) => key.split("/")[2]);
  // Each server renews its lease; servers on one host share it.
  assert.deepEqual(new Set(changed), new Set(["leases"]));
});

test("a server starts on a full store, so that objects can be deleted", async () => {
  const store = new MemoryStore();
  const before = await startOn(store);
  await before.client.of(kinds.configMaps).create({ metadata: { name: "large", namespace: "default" } });
  await before.started.stop();
  const write = store.write.bind(store);
  store.write = async (operation) => {
    if (operation.value) throw new StoreFull("there", "no space");
    return await write(operation);
  };
  const { client, started } = await startOn(store);
  const ready = await started.inject({ method: "GET", path: "/readyz" });
  assert.equal(ready.status, 200);
  assert.equal(
    await outcome(client.of(kinds.configMaps).create({ metadata: { name: "more", namespace: "default" } })),
    "InternalError",
  );
  await client.of(kinds.configMaps).delete("large", { namespace: "default" });
  await started.stop();
  await store.close();
});
