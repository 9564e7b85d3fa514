import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { dialects } from "#dialect";
import { orNone, until, withController } from "./cluster.fixture.ts";
import { decide, rootCaController } from "./root-ca.ts";
import { roleAggregationController } from "./role-aggregation.ts";
import { serviceAccountController } from "./service-accounts.ts";

test("every namespace has a default account, also after it was deleted", () =>
  withController(serviceAccountController, async ({ client }) => {
    const accounts = client.of(kinds.serviceAccounts);
    const find = (namespace: string) => until(() => orNone(accounts.get("default", { namespace })));
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
    ["what is missing is made", undefined, "create"],
    ["what is right stays", { metadata: described, data: { "ca.crt": "CA" } }, "nothing"],
    ["what is wrong is put right", { metadata: described, data: { "ca.crt": "old" } }, "update"],
    [
      "what does not belong there goes",
      { metadata: described, data: { "ca.crt": "CA", more: "x" } },
      "update",
    ],
    ["what lost its description gets one", { metadata: {} as never, data: { "ca.crt": "CA" } }, "update"],
  ];
for (const [name, present, expected] of contents)
  test(name, () => assert.equal(decide(present, "CA", dialects.orch), expected));

test("every namespace has the server's authorities, whatever somebody makes of them", () =>
  withController(
    (context) => rootCaController(context, "CA"),
    async ({ client }) => {
      const maps = client.of(kinds.configMaps);
      const name = "orch-root-ca.crt";
      const data = async (namespace: string) => (await orNone(maps.get(name, { namespace })))?.data;
      const right = (namespace: string) =>
        until(async () => ((await data(namespace))?.["ca.crt"] === "CA" ? await data(namespace) : undefined));
      await client.of(kinds.namespaces).create({ metadata: { name: "x" }, spec: {} });
      for (const namespace of ["default", "orch-system", "x"])
        assert.deepEqual(await right(namespace), { "ca.crt": "CA" });
      await maps.patch(name, "merge", { data: { "ca.crt": "forged" } }, { namespace: "x" });
      await right("x");
      await maps.delete(name, { namespace: "x" });
      await right("x");
    },
  ));

test("a gathering role follows the roles it gathers", () =>
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
