import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { dialects } from "#dialect";
import { eventually } from "#kit";
import { MemoryStore } from "#store";
import { settingsFor } from "../../library/settings.ts";
import { start } from "../../server.ts";

const definitions = "/registry/apiextensions.orch.io/customresourcedefinitions";
const services = "/registry/apiregistration.orch.io/apiservices";
const bytes = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const condition = (type: string) => ({ type, status: "True", reason: "x", message: "" });

const definition = {
  apiVersion: "apiextensions.orch.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.valid.example", uid: "u", creationTimestamp: "2022-06-08T23:46:32Z" },
  spec: {
    group: "valid.example",
    scope: "Namespaced",
    names: { kind: "Widget", listKind: "WidgetList", plural: "widgets", singular: "widget" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
  status: {
    acceptedNames: { kind: "Widget", listKind: "WidgetList", plural: "widgets", singular: "widget" },
    conditions: [condition("NamesAccepted"), condition("Established")],
    storedVersions: ["v1"],
  },
};
const service = (group: string) => ({
  apiVersion: "apiregistration.orch.io/v1",
  kind: "APIService",
  metadata: {
    name: `v1.${group}`,
    uid: "u",
    creationTimestamp: "2022-06-08T23:46:32Z",
    labels: { [dialects.orch.names.labels.aggregatedAutoRegister]: "true" },
  },
  spec: { group, version: "v1", groupPriorityMinimum: 1000, versionPriority: 100 },
});

test("a server with an unreadable definition starts, and removes no API service before all are loaded", async () => {
  const clock = virtualClock(Date.now());
  const store = new MemoryStore({ clock });
  const write = async (key: string, value: Uint8Array | null): Promise<unknown> =>
    await store.write({ key, value, expect: "any" });
  await write(`${definitions}/bogus`, Buffer.from("bogus data"));
  await write(`${definitions}/widgets.valid.example`, bytes(definition));
  await write(`${services}/v1.valid.example`, bytes(service("valid.example")));
  await write(`${services}/v1.stale.example`, bytes(service("stale.example")));
  await write(`${services}/v1.bogus`, Buffer.from("bogus data"));
  const started = await start({
    dialect: dialects.orch,
    settings: settingsFor(dialects.orch, { store: "memory" }),
    store,
    clock,
    listen: false,
    log: silentLog,
  });
  const statusOf = async (path: string): Promise<number> => (await started.inject({ path })).status;
  const serviceStatus = (name: string) => statusOf(`/apis/apiregistration.orch.io/v1/apiservices/${name}`);
  await write(`${services}/v1.bogus`, null);
  for (let tenths = 0; tenths < 150; tenths++) await clock.advance(100);
  assert.equal(await serviceStatus("v1.valid.example"), 200);
  assert.equal(await serviceStatus("v1.stale.example"), 200);
  assert.equal(await statusOf("/readyz"), 500);
  await write(`${definitions}/bogus`, null);
  await eventually(
    async () => (await serviceStatus("v1.stale.example")) === 404 && (await statusOf("/readyz")) === 200,
    { clock },
  );
  assert.equal(await serviceStatus("v1.valid.example"), 200);
  assert.equal(await statusOf("/apis/valid.example/v1/widgets"), 200);
  await started.stop();
  await store.close();
});
