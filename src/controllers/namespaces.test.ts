import assert from "node:assert/strict";
import { test } from "node:test";
import { type ResourceKind, kinds } from "#client";
import { until, gone, withController, withTimedController } from "./cluster.fixture.ts";
import { type Emptying, conditionsFor, namespaceController } from "./namespaces.ts";

const clean: Emptying = { undiscovered: [], failures: [], left: new Map(), held: new Map() };
const cases: [name: string, found: Partial<Emptying>, type: string, status: string, reason: string, message: string][] = [
  ["nothing left is said", {}, "NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed"],
  ["what is left is counted", { left: new Map([["pods.", 2], ["a.apps", 1]]) }, "NamespaceContentRemaining", "True", "SomeResourcesRemain", "Some resources are remaining: a.apps has 1 resource instances, pods. has 2 resource instances"],
  ["who holds it is named", { held: new Map([["x/y", 3]]) }, "NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: x/y in 3 resource instances"],
  ["what could not be deleted is told", { failures: ["pods.: no"] }, "NamespaceDeletionContentFailure", "True", "ContentDeletionFailed", "Failed to delete all resource types, 1 remaining: pods.: no"],
  ["groups that do not answer are told", { undiscovered: ["x/v1: no"] }, "NamespaceDeletionDiscoveryFailure", "True", "DiscoveryFailed", "Discovery failed for some groups, 1 failing: x/v1: no"],
]; // prettier-ignore
for (const [name, found, type, status, reason, message] of cases) {
  test(name, () => {
    const condition = conditionsFor({ ...clean, ...found }, [], "now").find((each) => each.type === type);
    assert.deepEqual(condition, { type, status, reason, message, lastTransitionTime: "now" });
  });
}

test("conditions of others stay, and times move only with what they tell", () => {
  const foreign = { type: "Mine", status: "True" } as never;
  const first = conditionsFor(clean, [foreign], "then");
  const second = conditionsFor({ ...clean, left: new Map([["pods.", 1]]) }, first, "now");
  assert.equal(first.length, 6);
  assert.deepEqual(second.filter((each) => each.lastTransitionTime === "now").map(({ type }) => type), ["NamespaceContentRemaining"]);
  assert.equal(second[0], foreign);
}); // prettier-ignore

const inX = { namespace: "x" };

test("a namespace goes with everything in it", () =>
  withController(
    (context) => namespaceController(context, 0),
    async ({ client }) => {
      await client.of(kinds.namespaces).create({ metadata: { name: "x" }, spec: {} });
      await client.of(kinds.configMaps).create({ metadata: { name: "a", ...inX } });
      await client.of(kinds.deployments).create({
        metadata: { name: "d", ...inX },
        spec: {
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
        },
      } as never);
      await client.of(kinds.leases).create({ metadata: { name: "l", ...inX }, spec: {} });
      await client.of(kinds.namespaces).delete("x");
      await until(() => gone(client.of(kinds.namespaces).get("x")));
      for (const kind of [kinds.configMaps, kinds.deployments, kinds.leases] as readonly ResourceKind[])
        assert.deepEqual((await client.of(kind).list({ namespace: "x" })).items, []);
      assert.equal((await client.of(kinds.namespaces).list()).items.length, 4);
    },
  ));

test("what a finalizer holds is reported, and the namespace goes when it lets go", () =>
  withTimedController(
    (context) => namespaceController(context, 0),
    async ({ client, until }) => {
      const [namespaces, maps] = [client.of(kinds.namespaces), client.of(kinds.configMaps)];
      await namespaces.create({ metadata: { name: "x" }, spec: {} });
      await maps.create({ metadata: { name: "held", finalizers: ["example.com/hold"], ...inX } });
      await namespaces.delete("x");
      const conditions = await until(async () => (await namespaces.get("x")).status.conditions);
      const of = (type: string) => conditions.find((each) => each.type === type);
      assert.equal(
        of("NamespaceContentRemaining")?.message,
        "Some resources are remaining: configmaps. has 1 resource instances",
      );
      assert.equal(
        of("NamespaceFinalizersRemaining")?.message,
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
      );
      await maps.patch("held", "merge", { metadata: { finalizers: null } }, inX);
      await until(() => gone(namespaces.get("x")));
    },
  ));
