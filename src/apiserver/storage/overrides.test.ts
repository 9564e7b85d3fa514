import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { dialectNamed } from "#dialect";
import { builtInStrategies } from "#registry";
import { type Store, openMemory } from "#store";
import { cachedResources } from "./caches.ts";
import { openOverrides } from "./overrides.ts";

const dialect = dialectNamed("orch")!;
const strategies = builtInStrategies.filter(({ resource }) =>
  ["events", "pods", "deployments"].includes(resource),
);
const strategy = (resource: string) => strategies.find((each) => each.resource === resource)!;
const override = (group: string, resource: string, ...servers: string[]) => ({ group, resource, servers });

test("resources with overrides share a store if their servers are the same", async () => {
  const opened: string[][] = [];
  const warned: unknown[] = [];
  const { storeOf, stores } = await openOverrides({
    overrides: [
      override("", "events", "http://b:1", "http://a:1"),
      override("apps", "deployments", "http://a:1", "http://b:1"),
      override("apps", "pods", "http://c:1"),
    ],
    strategies,
    dialect,
    log: { warn: (_message, fields) => void warned.push(fields) },
    open: async (servers) => {
      opened.push([...servers]);
      return await openMemory();
    },
  });
  assert.deepEqual(opened, [["http://b:1", "http://a:1"]]);
  assert.equal(storeOf(strategy("events")), stores[0]);
  assert.equal(storeOf(strategy("deployments")), stores[0]);
  assert.equal(storeOf(strategy("pods")), undefined);
  assert.deepEqual(warned, [{ group: "apps", resource: "pods" }]);
});

test("opened stores are closed if a later one fails to open", async () => {
  let closed = 0;
  const opening = openOverrides({
    overrides: [override("", "events", "http://a:1"), override("", "pods", "http://b:1")],
    strategies,
    dialect,
    log: { warn: () => undefined },
    open: async ([server]) => {
      if (server === "http://b:1") throw new Error("away");
      return { close: async () => void closed++ } as unknown as Store;
    },
  });
  await assert.rejects(opening, /away/);
  assert.equal(closed, 1);
});

test("each resource is read from its store, and the caches are current when all stores are", async () => {
  const [main, other] = [await openMemory(), await openMemory()];
  const caches = cachedResources({
    program: "test",
    dialect,
    store: main,
    storeOf: ({ resource }) => (resource === "events" ? other : undefined),
    storePrefix: "/registry",
    storageMedia: "json",
    strategies,
    clock: virtualClock(),
    onError: () => undefined,
  });
  await caches.start();
  const resourceOf = (name: string) =>
    caches.resources.find(({ strategy: { resource } }) => resource === name)!;
  assert.equal(caches.ready(), true);
  assert.equal(resourceOf("events").store, other);
  assert.equal(resourceOf("pods").store, main);
  assert.notEqual(caches.reflectorOf(resourceOf("events")), caches.reflectorOf(resourceOf("pods")));
  for (const [name, store] of [
    ["events", other],
    ["pods", main],
  ] as const) {
    const object = {
      kind: "Thing",
      apiVersion: "v1",
      metadata: { name: "a", namespace: "n", uid: "u" },
      spec: {},
    };
    const { prefix } = resourceOf(name);
    await store.write({ key: `${prefix}n/a`, value: Buffer.from(JSON.stringify(object)), expect: "absent" });
  }
  await caches.current();
  assert.deepEqual([resourceOf("events").source.count(), resourceOf("pods").source.count()], [1, 1]);
  await caches.stop();
});
