import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { type ApiClient, type ResourceKind, kinds } from "#client";
import { isDeleted, until, withController, withTimedController } from "./cluster.fixture.ts";
import { customThings } from "./custom-things.fixture.ts";
import { garbageCollector } from "./garbage-collector.ts";
import {
  type GraphNode,
  type OwnerState,
  type Decision,
  blocking,
  decide,
  ownerGraph,
} from "./owner-graph.ts";

const resource = { groupVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true, verbs: [] };
const owner = (uid: string, blockOwnerDeletion?: boolean) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name: uid,
  uid,
  ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }),
});
const node = (
  uid: string,
  owners: readonly ReturnType<typeof owner>[] = [],
  more: Partial<GraphNode> = {},
): GraphNode => ({
  uid,
  resource,
  namespace: "default",
  name: uid,
  owners,
  deleting: false,
  finalizers: [],
  ...more,
});

const standings: Record<string, OwnerState> = {
  here: "present",
  gone: "absent",
  waiting: "deleting dependents",
};
const cases: [name: string, node: GraphNode, hasDependents: boolean, expected: Decision][] = [
  ["an object without owners is kept", node("a"), false, { action: "nothing" }],
  ["an object whose owner is present is kept", node("a", [owner("here")]), false, { action: "nothing" }],
  [
    "an object whose owners are absent is deleted",
    node("a", [owner("gone")]),
    true,
    { action: "delete", propagation: "Background" },
  ],
  [
    "an object that is being deleted is left alone",
    node("a", [owner("gone")], { deleting: true }),
    false,
    { action: "nothing" },
  ],
  [
    "references to absent owners are removed while another is present",
    node("a", [owner("here"), owner("gone"), owner("waiting")]),
    false,
    { action: "disown", uids: ["gone", "waiting"] },
  ],
  [
    "dependents of an owner in foreground deletion are deleted",
    node("a", [owner("waiting")]),
    false,
    { action: "delete", propagation: "Background" },
  ],
  [
    "dependents with dependents are deleted in the foreground with such an owner",
    node("a", [owner("waiting")]),
    true,
    { action: "delete", propagation: "Foreground" },
  ],
  [
    "an object to be orphaned is deleted with orphan propagation",
    node("a", [owner("gone")], { finalizers: ["orphan"] }),
    true,
    { action: "delete", propagation: "Orphan" },
  ],
  [
    "an object with the foreground finalizer is deleted in the foreground",
    node("a", [owner("gone")], { finalizers: ["foregroundDeletion"] }),
    true,
    { action: "delete", propagation: "Foreground" },
  ],
];
for (const [name, given, hasDependents, expected] of cases)
  test(name, () =>
    assert.deepEqual(
      decide(given, ({ uid }) => standings[uid]!, hasDependents),
      expected,
    ),
  );

test("the graph drops deleted and disowned objects", () => {
  const graph = ownerGraph();
  const dependents = () => graph.dependents("o").map(({ uid }) => uid);
  graph.put(node("a", [owner("o", true)]));
  graph.put(node("b", [owner("o")]));
  assert.deepEqual(dependents(), ["a", "b"]);
  assert.deepEqual(blocking("o", graph.dependents("o")).map(({ uid }) => uid), ["a"]);
  graph.put(node("a", []));
  graph.remove("b");
  assert.deepEqual(dependents(), []);
}); // prettier-ignore

const maps = (client: ApiClient) => client.of(kinds.configMaps);
const inDefault = { namespace: "default" };
const ghost = "11111111-1111-4111-8111-111111111111";
const make = async (
  client: ApiClient,
  name: string,
  ownerReferences: object[] = [],
  kind: ResourceKind = kinds.configMaps,
): Promise<string> =>
  (await client.of(kind).create({ metadata: { name, ...inDefault, ownerReferences } } as never)).metadata
    .uid!;
const refers = (name: string, uid: string, more: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name,
  uid,
  ...more,
});

test("background deletion deletes dependents of all generations after their owner", () =>
  withController(garbageCollector, async ({ client }) => {
    const a = await make(client, "a");
    const b = await make(client, "b", [refers("a", a)]);
    await make(client, "c", [refers("b", b)], kinds.serviceAccounts);
    await make(client, "stranger");
    await maps(client).delete("a", { ...inDefault, propagation: "Background" });
    await until(() => isDeleted(maps(client).get("b", inDefault)));
    await until(() => isDeleted(client.of(kinds.serviceAccounts).get("c", inDefault)));
    await maps(client).get("stranger", inDefault);
  }));

test("foreground deletion makes the owner wait for blocking dependents", () =>
  withController(garbageCollector, async ({ client }) => {
    const a = await make(client, "a");
    await make(client, "b", [refers("a", a, { blockOwnerDeletion: true })]);
    await maps(client).patch("b", "merge", { metadata: { finalizers: ["example.com/hold"] } }, inDefault);
    await maps(client).delete("a", { ...inDefault, propagation: "Foreground" });
    await until(async () => (await maps(client).get("b", inDefault)).metadata.deletionTimestamp);
    assert.deepEqual((await maps(client).get("a", inDefault)).metadata.finalizers, ["foregroundDeletion"]);
    await maps(client).patch("b", "merge", { metadata: { finalizers: null } }, inDefault);
    await until(() => isDeleted(maps(client).get("a", inDefault)));
    assert.ok(await isDeleted(maps(client).get("b", inDefault)));
  }));

test("orphaned dependents are kept without the reference to their owner", () =>
  withController(garbageCollector, async ({ client }) => {
    const a = await make(client, "a");
    await make(client, "b", [refers("a", a)]);
    // The collector must observe the dependent before it is requested to orphan it.
    await maps(client).delete("a", { ...inDefault, propagation: "Orphan" });
    await until(() => isDeleted(maps(client).get("a", inDefault)));
    assert.equal((await maps(client).get("b", inDefault)).metadata.ownerReferences, undefined);
  }));

test("an owner that never existed, or now has another uid, does not count", () =>
  withController(garbageCollector, async ({ client }) => {
    const a = await make(client, "a");
    await make(client, "both", [refers("a", a), refers("ghost", ghost)]);
    await make(client, "lost", [refers("a", "22222222-2222-4222-8222-222222222222")]);
    await until(() => isDeleted(maps(client).get("lost", inDefault)));
    await until(
      async () => (await maps(client).get("both", inDefault)).metadata.ownerReferences?.length === 1,
    );
  }));

test("owners of a kind that is not served count as present", () =>
  withController(garbageCollector, async ({ client }) => {
    await make(client, "kept", [
      { apiVersion: "example.com/v1", kind: "Thing", name: "x", uid: "33333333-3333-4333-8333-333333333333" },
    ]);
    const a = await make(client, "a");
    await make(client, "b", [refers("a", a)]);
    await maps(client).delete("a", inDefault);
    await until(() => isDeleted(maps(client).get("b", inDefault)));
    await maps(client).get("kept", inDefault);
  }));

test("custom resources are collected after their definition has changed versions", () =>
  withTimedController(garbageCollector, async ({ client, until: untilTimed }) => {
    const things = customThings(client);
    const isGone = (served: string, name: string) =>
      isDeleted(client.request("GET", `${things.path(served)}/${name}`));
    await things.define();
    // The collector follows the first version once it collects an object in it.
    const first = await make(client, "first");
    const makeThing = (served: string, name: string, uid: string) =>
      things.make(served, name, [refers("a", uid)]);
    await untilTimed(async () => await makeThing("v1beta1", "followed", first).catch(() => undefined));
    await maps(client).delete("first", inDefault);
    await untilTimed(() => isGone("v1beta1", "followed"));
    const a = await make(client, "a");
    await makeThing("v1beta1", "before", a);
    await things.moveToV1();
    await untilTimed(async () => await makeThing("v1", "after", a).catch(() => undefined));
    await maps(client).delete("a", inDefault);
    for (const name of ["before", "after"]) await untilTimed(() => isGone("v1", name));
  }));

test("dependents are kept while their owner's kind is known only in a version that is not served", async () => {
  const clock = virtualClock(Date.now());
  await withController(
    garbageCollector,
    async ({ client }) => {
      const things = customThings(client);
      await things.define();
      await until(async () => {
        await clock.advance(1000);
        return await things.make("v1beta1", "followed", [refers("ghost", ghost)]).catch(() => undefined);
      });
      await until(async () => {
        await clock.advance(1000);
        return await isDeleted(client.request("GET", `${things.path("v1beta1")}/followed`));
      });
      await things.moveToV1();
      const owner = await until(async () => await things.make("v1", "owner").catch(() => undefined));
      const { name, uid } = owner.metadata;
      await make(client, "kept", [{ apiVersion: "example.com/v1", kind: "Thing", name: name!, uid: uid! }]);
      await make(client, "lost", [refers("ghost", ghost)]);
      await until(() => isDeleted(maps(client).get("lost", inDefault)));
      await maps(client).get("kept", inDefault);
    },
    clock,
  );
});
