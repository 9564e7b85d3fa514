import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiClient, kinds } from "#client";
import { until, withController, withTimedController } from "./cluster.fixture.ts";
import { customThings } from "./custom-things.fixture.ts";
import { resourceQuotaController } from "./resource-quota.ts";

const namespace = "default";
const name = "count/things.example.com";
const limitThings = async (client: ApiClient) => {
  const quotas = client.of(kinds.resourceQuotas);
  await quotas.create({ metadata: { name: "q", namespace }, spec: { hard: { [name]: "1" } } });
  return async (): Promise<string | undefined> => (await quotas.get("q", { namespace })).status.used?.[name];
};

test("a deleted custom resource is not counted any more", () =>
  withController(resourceQuotaController, async ({ client }) => {
    const things = customThings(client);
    await things.define();
    const used = await limitThings(client);
    await until(async () => (await used()) === "0");
    await things.make("v1beta1", "a");
    await until(async () => (await used()) === "1");
    await assert.rejects(things.make("v1beta1", "b"), /exceeded quota/);
    await client.request("DELETE", `${things.path("v1beta1")}/a`);
    await until(async () => (await used()) === "0");
    await things.make("v1beta1", "b");
  }));

test("custom resources are counted that were defined after the quota", () =>
  withTimedController(resourceQuotaController, async ({ client, until: untilTimed }) => {
    const things = customThings(client);
    const used = await limitThings(client);
    await untilTimed(async () => (await used()) === "0");
    await things.define();
    await things.make("v1beta1", "a");
    await untilTimed(async () => (await used()) === "1");
    await client.request("DELETE", `${things.path("v1beta1")}/a`);
    await untilTimed(async () => (await used()) === "0");
  }));
