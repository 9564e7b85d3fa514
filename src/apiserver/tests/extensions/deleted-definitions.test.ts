// Definitions that are deleted while others are used.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, virtualClock } from "#base";
import type { ApiClient } from "#client";
import { eventually } from "#kit";
import { type Json, at } from "../../server.fixture.ts";
import { startSeveral } from "../../several.fixture.ts";

const definitions = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
const definition = (plural: string): Json => ({
  apiVersion: "apiextensions.orch.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.x.example.com` },
  spec: {
    group: "x.example.com",
    names: { plural, kind: plural },
    scope: "Cluster",
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
});

async function define(client: ApiClient, plural: string): Promise<void> {
  await client.request("POST", definitions, JSON.stringify(definition(plural)));
  await eventually(async () => {
    const found = await client.request("GET", `${definitions}/${plural}.x.example.com`);
    const conditions = (at(found, "status.conditions") ?? []) as Json[];
    return conditions.some(({ type, status }) => type === "Established" && status === "True");
  });
}

const create = (client: ApiClient, plural: string, metadata: Json): Promise<unknown> =>
  client.request(
    "POST",
    `/apis/x.example.com/v1/${plural}`,
    JSON.stringify({ apiVersion: "x.example.com/v1", kind: plural, metadata }),
  );

test("a definition does not wait for the deletion of another one's instances", async () => {
  await using servers = await startSeveral(1);
  const [{ client, holdWrites }] = servers.servers as [(typeof servers.servers)[0]];
  await define(client, "a");
  await create(client, "a", { name: "one" });
  const held = Promise.withResolvers<void>();
  holdWrites(({ key, value }) => {
    const isHeld = value === null && key.endsWith("/one");
    if (isHeld) held.resolve();
    return isHeld;
  });
  await client.request("DELETE", `${definitions}/a.x.example.com`);
  await held.promise;
  await define(client, "b");
});

test("a definition that waits for its instances is retried once at a time", async () => {
  const clock = virtualClock(Date.now());
  let retries = 0;
  const counting: Clock = {
    ...clock,
    after: (milliseconds, run) => {
      if (milliseconds !== 1000) return clock.after(milliseconds, run);
      retries++;
      const cancel = clock.after(milliseconds, () => {
        retries--;
        run();
      });
      return () => {
        retries--;
        cancel();
      };
    },
  };
  await using servers = await startSeveral(1, { clock: counting });
  const [{ client }] = servers.servers as [(typeof servers.servers)[0]];
  await define(client, "a");
  await create(client, "a", { name: "one", finalizers: ["x.example.com/y"] });
  const before = retries;
  const path = `${definitions}/a.x.example.com`;
  await client.request("DELETE", path);
  await eventually(async () => retries > before);
  for (let change = 1; change <= 5; change++) {
    const patch = JSON.stringify({ metadata: { annotations: { change: String(change) } } });
    await client.request("PATCH", path, patch, { "content-type": "application/merge-patch+json" });
    await eventually(async () => {
      const found = await client.request("GET", path);
      return at(found, "metadata.annotations.change") === String(change);
    });
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(retries, before + 1);
});
