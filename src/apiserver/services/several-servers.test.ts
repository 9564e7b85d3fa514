// Services on servers that share a store: no value is allocated twice, and none is leaked when a server
// fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiError, virtualClock } from "#base";
import { type ApiClient, kinds } from "#client";
import { MemoryStore } from "#store";
import { type Several, startOn, startSeveral } from "../several.fixture.ts";

const flags = ["--service-cluster-ip-range=10.7.0.0/28", "--service-node-port-range=30000-30009"];
const draft = (name: string, spec: object = {}) =>
  ({
    metadata: { name, namespace: "default" },
    spec: { ports: [{ port: 1, targetPort: 1 }], ...spec },
  }) as never;
// prettier-ignore
const outcome = async (work: Promise<unknown>): Promise<string> => await work.then(() => "made", (error: ApiError) => error.reason);
const make = (client: ApiClient, name: string, spec?: object): Promise<string> =>
  outcome(client.of(kinds.services).create(draft(name, spec)));
const reservations = async ({ store }: Several): Promise<number> =>
  (await store.read({ prefix: "/registry/promises/" })).entries.length;
/** Yields to the event loop until pending work has progressed as far as it can. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test("servers that share a store allocate every address and port once, requested or not, until none is left", async () => {
  await using several = await startSeveral(3, { flags });
  const clients = several.servers.map(({ client }) => client);
  for (let round = 0; round < 3; round++) {
    // Fourteen addresses, one of them used by the servers' own service; ten ports.
    const chosen = {
      clusterIP: "10.7.0.9",
      type: "NodePort",
      ports: [{ port: 1, targetPort: 1, nodePort: 30_003 }],
    };
    const outcomes = await Promise.all(clients.map((client, at) => make(client, `chosen-${at}`, chosen)));
    assert.deepEqual(outcomes.toSorted(), ["Invalid", "Invalid", "made"]);
    const others = await Promise.all(
      Array.from({ length: 18 }, (_, at) =>
        make(clients[at % 3]!, `any-${at}`, at < 12 ? { type: "NodePort" } : {}),
      ),
    );
    assert.equal(others.filter((each) => each === "InternalError").length, 6, "the range is full");
    const { items } = await clients[0]!.of(kinds.services).list({ namespace: "default" });
    const addresses = items.map(({ spec }) => spec.clusterIP);
    const ports = items.flatMap(({ spec }) => spec.ports!.flatMap(({ nodePort }) => nodePort ?? []));
    assert.equal(addresses.length, 14);
    assert.deepEqual([new Set(addresses).size, new Set(ports).size], [addresses.length, ports.length]);
    assert.equal(await reservations(several), 0);
    // An address that one server releases can be allocated by another one at once.
    for (const [at, { metadata }] of items.entries())
      if (metadata.name !== "orch")
        await clients[at % 3]!.of(kinds.services).delete(metadata.name!, { namespace: "default" });
  }
});

test("of an update and a create that request the same port exactly one succeeds", async () => {
  await using several = await startSeveral(2, { flags });
  const [one, other] = several.servers.map(({ client }) => client) as [ApiClient, ApiClient];
  assert.equal(await make(one, "web"), "made");
  const ports = [{ port: 1, targetPort: 1, nodePort: 30_001 }];
  const change = outcome(
    other
      .of(kinds.services)
      .patch("web", "merge", { spec: { type: "NodePort", ports } }, { namespace: "default" }),
  );
  assert.deepEqual((await Promise.all([change, make(one, "late", { type: "NodePort", ports })])).toSorted(), [
    "Invalid",
    "made",
  ]);
  // An update that keeps its values makes no reservation.
  const { revision } = await several.store.status();
  await other
    .of(kinds.services)
    .patch("web", "merge", { metadata: { labels: { a: "b" } } }, { namespace: "default" });
  assert.equal((await several.store.status()).revision, revision + 1);
});

test("a server whose watch hangs allocates nothing that may be in use", async () => {
  const clock = virtualClock(Date.now());
  await using several = await startSeveral(2, { flags, clock });
  const [one, other] = several.servers as [Several["servers"][0], Several["servers"][0]];
  other.holdWatch();
  assert.equal(await make(one.client, "a", { clusterIP: "10.7.0.9" }), "made");
  const late = make(other.client, "b", { clusterIP: "10.7.0.9" });
  await turns();
  other.letGo();
  assert.equal(await late, "Invalid");
  other.holdWatch();
  const stuck = make(other.client, "c", { clusterIP: "10.7.0.10" });
  await turns();
  await clock.advance(10_000);
  assert.equal(await stuck, "Timeout");
  other.letGo();
  assert.equal(await make(one.client, "c", { clusterIP: "10.7.0.10" }), "made");
});

test("a server that hangs between reservation and write loses the reservation", async () => {
  const clock = virtualClock(Date.now());
  await using several = await startSeveral(2, { flags, clock });
  const [one, other] = several.servers as [Several["servers"][0], Several["servers"][0]];
  other.holdWrites(({ key }) => key.startsWith("/registry/services/"));
  const hanging = make(other.client, "a", { clusterIP: "10.7.0.9" });
  await turns();
  assert.equal(await make(one.client, "b", { clusterIP: "10.7.0.9" }), "Invalid");
  await clock.advance(31_000);
  await turns();
  assert.equal(await make(one.client, "b", { clusterIP: "10.7.0.9" }), "made");
  other.letGo();
  assert.equal(await hanging, "Timeout");
  await assert.rejects(one.client.of(kinds.services).get("a", { namespace: "default" }), {
    reason: "NotFound",
  });
});

test("a failed write releases its reservations, and a dry run makes none", async () => {
  await using several = await startSeveral(2, { flags });
  const [one, other] = several.servers.map(({ client }) => client) as [ApiClient, ApiClient];
  const chosen = { clusterIP: "10.7.0.9" };
  const { revision } = await several.store.status();
  await one.of(kinds.services).create(draft("dry", chosen), { dryRun: true });
  assert.equal((await several.store.status()).revision, revision);
  assert.equal(await make(one, "bad", { ...chosen, ports: [{ port: 70_000, targetPort: 1 }] }), "Invalid");
  await turns();
  assert.equal(await reservations(several), 0);
  assert.equal(await make(other, "good", chosen), "made");
  // Of two creates with the same name, one finds that the service exists already.
  const same = await Promise.all(
    [one, other].map((client) => make(client, "twin", { clusterIP: "10.7.0.10" })),
  );
  assert.deepEqual(same.toSorted(), ["AlreadyExists", "made"]);
  await turns();
  assert.equal(await reservations(several), 0);
});

test("a delayed write of the server endpoints includes servers added in the meantime", async () => {
  const clock = virtualClock(Date.now());
  const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
  const store = new MemoryStore({ clock });
  const write = store.write.bind(store);
  const late = Promise.withResolvers<void>();
  // Delay the first update of the endpoints.
  let first = true;
  store.write = async (operation) => {
    if (operation.key.endsWith("endpoints/default/orch") && operation.expect !== "absent" && first) {
      first = false;
      await late.promise;
    }
    return await write(operation);
  };
  const servers = [];
  for (const address of addresses) {
    servers.push(await startOn(store, { clock, flags: [`--advertise-address=${address}`] }));
    await turns();
  }
  late.resolve();
  await turns();
  const { subsets } = (await servers[0]!.client.request("GET", "/api/v1/namespaces/default/endpoints/orch")) as { subsets: { addresses: { ip: string }[] }[] };
  assert.deepEqual(subsets[0]!.addresses.map(({ ip }) => ip), addresses);
  for (const { started } of servers) await started.stop();
  await store.close();
}); // prettier-ignore
