import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiClient, type ResourceKind, kinds } from "#client";
import { gone, until, withController } from "./cluster.fixture.ts";
import { garbageCollector } from "./garbage-collector.ts";
import { type GraphNode, type Standing, type Verdict, blocking, decide, ownerGraph } from "./owner-graph.ts";

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

const standings: Record<string, Standing> = {
  here: "there",
  gone: "gone",
  waiting: "waits for its dependents",
};
const cases: [name: string, node: GraphNode, hasDependents: boolean, expected: Verdict][] = [
  ["an object without owners stays", node("a"), false, { do: "nothing" }],
  ["an object whose owner is there stays", node("a", [owner("here")]), false, { do: "nothing" }],
  [
    "an object whose owners are gone goes",
    node("a", [owner("gone")]),
    true,
    { do: "delete", propagation: "Background" },
  ],
  [
    "an object that goes already is left alone",
    node("a", [owner("gone")], { deleting: true }),
    false,
    { do: "nothing" },
  ],
  [
    "owners that are gone are struck off while another is there",
    node("a", [owner("here"), owner("gone"), owner("waiting")]),
    false,
    { do: "disown", uids: ["gone", "waiting"] },
  ],
  [
    "an owner that waits takes its dependents along",
    node("a", [owner("waiting")]),
    false,
    { do: "delete", propagation: "Background" },
  ],
  [
    "dependents of an owner that waits take theirs along",
    node("a", [owner("waiting")]),
    true,
    { do: "delete", propagation: "Foreground" },
  ],
  [
    "what was to be orphaned stays so",
    node("a", [owner("gone")], { finalizers: ["orphan"] }),
    true,
    { do: "delete", propagation: "Orphan" },
  ],
  [
    "what was to wait waits",
    node("a", [owner("gone")], { finalizers: ["foregroundDeletion"] }),
    true,
    { do: "delete", propagation: "Foreground" },
  ],
];
for (const [name, given, hasDependents, expected] of cases)
  test(name, () =>
    assert.deepEqual(
      decide(given, ({ uid }) => standings[uid]!, hasDependents),
      expected,
    ),
  );

test("the graph forgets who is gone and who was disowned", () => {
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

test("in the background dependents go after their owner, through all generations", () =>
  withController(garbageCollector, async ({ client }) => {
    const a = await make(client, "a");
    const b = await make(client, "b", [refers("a", a)]);
    await make(client, "c", [refers("b", b)], kinds.serviceAccounts);
    await make(client, "stranger");
    await maps(client).delete("a", { ...inDefault, propagation: "Background" });
    await until(() => gone(maps(client).get("b", inDefault)));
    await until(() => gone(client.of(kinds.serviceAccounts).get("c", inDefault)));
    await maps(client).get("stranger", inDefault);
  }));

test("in the foreground the owner waits for those that block it", () =>
  withController(garbageCollector, async ({ client }) => {
    const a = await make(client, "a");
    await make(client, "b", [refers("a", a, { blockOwnerDeletion: true })]);
    await maps(client).patch("b", "merge", { metadata: { finalizers: ["example.com/hold"] } }, inDefault);
    await maps(client).delete("a", { ...inDefault, propagation: "Foreground" });
    await until(async () => (await maps(client).get("b", inDefault)).metadata.deletionTimestamp);
    assert.deepEqual((await maps(client).get("a", inDefault)).metadata.finalizers, ["foregroundDeletion"]);
    await maps(client).patch("b", "merge", { metadata: { finalizers: null } }, inDefault);
    await until(() => gone(maps(client).get("a", inDefault)));
    assert.ok(await gone(maps(client).get("b", inDefault)));
  }));

test("orphans stay, without the owner that went", () =>
  withController(garbageCollector, async ({ client }) => {
    const a = await make(client, "a");
    await make(client, "b", [refers("a", a)]);
    // The collector must observe the dependent before it is requested to orphan it.
    await maps(client).delete("a", { ...inDefault, propagation: "Orphan" });
    await until(() => gone(maps(client).get("a", inDefault)));
    assert.equal((await maps(client).get("b", inDefault)).metadata.ownerReferences, undefined);
  }));

test("an owner that never was, or is another one by now, does not count", () =>
  withController(garbageCollector, async ({ client }) => {
    const a = await make(client, "a");
    await make(client, "both", [refers("a", a), refers("ghost", "11111111-1111-4111-8111-111111111111")]);
    await make(client, "lost", [refers("a", "22222222-2222-4222-8222-222222222222")]);
    await until(() => gone(maps(client).get("lost", inDefault)));
    await until(
      async () => (await maps(client).get("both", inDefault)).metadata.ownerReferences?.length === 1,
    );
  }));

test("owners of a kind that nobody serves are taken for present", () =>
  withController(garbageCollector, async ({ client }) => {
    await make(client, "kept", [
      { apiVersion: "example.com/v1", kind: "Thing", name: "x", uid: "33333333-3333-4333-8333-333333333333" },
    ]);
    const a = await make(client, "a");
    await make(client, "b", [refers("a", a)]);
    await maps(client).delete("a", inDefault);
    await until(() => gone(maps(client).get("b", inDefault)));
    await maps(client).get("kept", inDefault);
  }));
