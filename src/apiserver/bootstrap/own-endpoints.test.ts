import assert from "node:assert/strict";
import { test } from "node:test";
import { EndpointSlice, Endpoints } from "#api";
import { ApiError, type Clock, virtualClock } from "#base";
import { kinds } from "#client";
import { dialects } from "#dialect";
import { type ServerObjects, builtInStrategies, resourceHandles, serverWriter } from "#registry";
import { MemoryStore } from "#store";
import { startServer } from "../library.ts";
import { type Caches, cachedResources } from "../storage/caches.ts";
import { type OwnAddresses, masterCountAddresses, leasedAddresses } from "./own-addresses.ts";
import { ownEndpoints } from "./own-endpoints.ts";

const endpoints = { schema: Endpoints, plural: "endpoints", namespaced: true } as const;
const slices = { schema: EndpointSlice, plural: "endpointslices", namespaced: true } as const;
const inDefault = { namespace: "default" };

async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await ask().catch((error: unknown) => {
      // Not created yet; any other error is a failure.
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    });
    if (found) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("the server's address is published as the endpoint of its own service", async () => {
  await using server = await startServer({
    store: "memory",
    flags: ["--advertise-address=192.0.2.7", "--secure-port=7443"],
  });
  const found = await until(async () => await server.client.of(endpoints).get("orch", inDefault));
  assert.deepEqual(found.subsets, [
    { addresses: [{ ip: "192.0.2.7" }], ports: [{ name: "https", port: 7443, protocol: "TCP" }] },
  ]);
  assert.equal(found.metadata.labels?.["endpointslice.orch.io/skip-mirror"], "true");
  const slice = await until(async () => await server.client.of(slices).get("orch", inDefault));
  assert.deepEqual(
    [
      slice.addressType,
      slice.endpoints?.map(({ addresses }) => addresses),
      slice.metadata.labels?.["orch.io/service-name"],
    ],
    ["IPv4", [["192.0.2.7"]], "orch"],
  );
});

test("an address that is only valid on this host is not published", async () => {
  await using server = await startServer({ store: "memory" });
  await server.client.of(kinds.services).get("orch", inDefault);
  assert.deepEqual((await server.client.of(endpoints).list()).items, []);
});

test("the configured node port of the own service is used", async () => {
  await using server = await startServer({ store: "memory", flags: ["--orch-service-node-port=30443"] });
  const { spec } = await server.client.of(kinds.services).get("orch", inDefault);
  assert.deepEqual([spec.type, spec.ports?.[0]?.nodePort], ["NodePort", 30_443]);
});

async function objectsIn(
  store: MemoryStore,
  clock: Clock,
): Promise<{ readonly server: ServerObjects; readonly caches: Caches }> {
  const onError = (message: string): never => assert.fail(message);
  const common = { dialect: dialects.orch, clock, onError };
  const storage = {
    store,
    storePrefix: "/registry",
    storageMedia: "json",
    strategies: builtInStrategies,
  } as const;
  const caches = cachedResources({ ...common, ...storage, program: "test" });
  await caches.start();
  const settings = { allowPrivileged: false, eventTtlSeconds: 1 };
  const writer = serverWriter({ ...common, settings });
  return { caches, server: { ...common, writer, resources: resourceHandles(caches.resources) } };
}

const ways: [name: string, addresses: (store: MemoryStore, own: string) => OwnAddresses][] = [
  ["hold leases", (store, own) => leasedAddresses(store, "/registry", own)],
  ["use master-count", (_store, own) => masterCountAddresses(own, 2)],
];
for (const [name, addresses] of ways) {
  test(`servers that share a store and ${name} are all published until they stop`, async () => {
    const clock = virtualClock(Date.now());
    const store = new MemoryStore({ clock });
    const { server, caches } = await objectsIn(store, clock);
    const known = async (): Promise<string> => {
      const { subsets } = (await server.resources.endpoints.get("default/orch")) ?? {};
      return (subsets ?? []).flatMap((subset) => (subset.addresses ?? []).map(({ ip }) => ip)).join();
    };
    const sliced = async (): Promise<string> => {
      const slice = await server.resources.endpointSlices.get("default/orch");
      return (slice?.endpoints ?? []).flatMap((endpoint) => endpoint.addresses).join();
    };
    const [one, other] = [new AbortController(), new AbortController()];
    const keep = (address: string, { signal }: AbortController): Promise<void> =>
      ownEndpoints({ server, clock, address, port: 443, addresses: addresses(store, address) }).run(signal);
    const first = keep("192.0.2.1", one);
    await until(async () => (await known()) === "192.0.2.1");
    const second = keep("192.0.2.2", other);
    await until(async () => (await known()) === "192.0.2.1,192.0.2.2");
    await until(async () => (await sliced()) === "192.0.2.1,192.0.2.2");
    other.abort();
    await second;
    assert.equal(await known(), "192.0.2.1");
    one.abort();
    await first;
    assert.equal(await known(), "");
    await caches.stop();
    await store.close();
  });
}
