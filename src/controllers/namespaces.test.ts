import assert from "node:assert/strict";
import { test } from "node:test";
import { type ResourceKind, kinds } from "#client";
import { until, isDeleted, withController, withTimedController } from "./cluster.fixture.ts";
import { type CleanupResult, conditionsFor, namespaceController } from "./namespaces.ts";

const clean: CleanupResult = { undiscovered: [], failures: [], remaining: new Map(), held: new Map() };
const cases: [name: string, found: Partial<CleanupResult>, type: string, status: string, reason: string, message: string][] = [
  ["an empty namespace is reported", {}, "NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed"],
  ["remaining objects are counted", { remaining: new Map([["pods.", 2], ["a.apps", 1]]) }, "NamespaceContentRemaining", "True", "SomeResourcesRemain", "Some resources are remaining: a.apps has 1 resource instances, pods. has 2 resource instances"],
  ["remaining finalizers are named", { held: new Map([["x/y", 3]]) }, "NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: x/y in 3 resource instances"],
  ["failed deletions are reported", { failures: ["pods.: no"] }, "NamespaceDeletionContentFailure", "True", "ContentDeletionFailed", "Failed to delete all resource types, 1 remaining: pods.: no"],
  ["groups whose discovery fails are reported", { undiscovered: ["x/v1: no"] }, "NamespaceDeletionDiscoveryFailure", "True", "DiscoveryFailed", "Discovery failed for some groups, 1 failing: x/v1: no"],
]; // prettier-ignore
for (const [name, found, type, status, reason, message] of cases) {
  test(name, () => {
    const condition = conditionsFor({ ...clean, ...found }, [], "now").find((each) => each.type === type);
    assert.deepEqual(condition, { type, status, reason, message, lastTransitionTime: "now" });
  });
}

test("conditions of others are kept, and times change only with their conditions", () => {
  const foreign = { type: "Mine", status: "True" } as never;
  const first = conditionsFor(clean, [foreign], "then");
  const second = conditionsFor({ ...clean, remaining: new Map([["pods.", 1]]) }, first, "now");
  assert.equal(first.length, 6);
  assert.deepEqual(second.filter((each) => each.lastTransitionTime === "now").map(({ type }) => type), ["NamespaceContentRemaining"]);
  assert.equal(second[0], foreign);
}); // prettier-ignore

const inX = { namespace: "x" };

test("a namespace is deleted with all of its content", () =>
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
      await until(() => isDeleted(client.of(kinds.namespaces).get("x")));
      for (const kind of [kinds.configMaps, kinds.deployments, kinds.leases] as readonly ResourceKind[])
        assert.deepEqual((await client.of(kind).list({ namespace: "x" })).items, []);
      assert.equal((await client.of(kinds.namespaces).list()).items.length, 4);
    },
  ));

test("objects held by a finalizer are reported, and the namespace is deleted once they are released", () =>
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
      await until(() => isDeleted(namespaces.get("x")));
    },
  ));
