import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { dialects } from "#dialect";
import { orUndefined, until, withController } from "./cluster.fixture.ts";
import { decide, rootCaController } from "./root-ca.ts";
import { roleAggregationController } from "./role-aggregation.ts";
import { serviceAccountController } from "./service-accounts.ts";

test("every namespace has a default account, which is recreated after its deletion", () =>
  withController(serviceAccountController, async ({ client }) => {
    const accounts = client.of(kinds.serviceAccounts);
    const find = (namespace: string) => until(() => orUndefined(accounts.get("default", { namespace })));
    await find("default");
    await client.of(kinds.namespaces).create({ metadata: { name: "x" }, spec: {} });
    const { metadata } = await find("x");
    await accounts.delete("default", { namespace: "x" });
    const again = await find("x");
    assert.notEqual(again.metadata.uid, metadata.uid);
  }));

const described = { annotations: { "orch.io/description": "any" } } as never;
const contents: [name: string, present: Parameters<typeof decide>[0], expected: ReturnType<typeof decide>][] =
  [
    ["a missing config map is created", undefined, "create"],
    ["a correct config map is kept", { metadata: described, data: { "ca.crt": "CA" } }, "nothing"],
    ["a wrong certificate is updated", { metadata: described, data: { "ca.crt": "old" } }, "update"],
    ["additional data is removed", { metadata: described, data: { "ca.crt": "CA", more: "x" } }, "update"],
    ["a missing description is added", { metadata: {} as never, data: { "ca.crt": "CA" } }, "update"],
  ];
for (const [name, present, expected] of contents)
  test(name, () => assert.equal(decide(present, "CA", dialects.orch), expected));

test("every namespace has the server's CA certificates, even after changes by other clients", () =>
  withController(
    (context) => rootCaController(context, "CA"),
    async ({ client }) => {
      const maps = client.of(kinds.configMaps);
      const name = "orch-root-ca.crt";
      const data = async (namespace: string) => (await orUndefined(maps.get(name, { namespace })))?.data;
      const isCorrect = (namespace: string) =>
        until(async () => ((await data(namespace))?.["ca.crt"] === "CA" ? await data(namespace) : undefined));
      await client.of(kinds.namespaces).create({ metadata: { name: "x" }, spec: {} });
      for (const namespace of ["default", "orch-system", "x"])
        assert.deepEqual(await isCorrect(namespace), { "ca.crt": "CA" });
      await maps.patch(name, "merge", { data: { "ca.crt": "forged" } }, { namespace: "x" });
      await isCorrect("x");
      await maps.delete(name, { namespace: "x" });
      await isCorrect("x");
    },
  ));

test("an aggregated role follows the roles it selects", () =>
  withController(roleAggregationController, async ({ client }) => {
    const roles = client.of(kinds.clusterRoles);
    const rule = { apiGroups: ["example.com"], resources: ["things"], verbs: ["get"] };
    await roles.create({
      metadata: { name: "all" },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { gather: "yes" } }] },
    });
    await roles.create({ metadata: { name: "part", labels: { gather: "yes" } }, rules: [rule] });
    await until(async () => (await roles.get("all")).rules?.length === 1);
    assert.deepEqual((await roles.get("all")).rules, [rule]);
    // The server's bootstrap roles are created one after the other, and so are their rules.
    await until(async () => ((await roles.get("admin")).rules?.length ?? 0) > 5);
    await roles.delete("part");
    await until(async () => !(await roles.get("all")).rules?.length);
  }));
