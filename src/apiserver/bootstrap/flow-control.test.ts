import assert from "node:assert/strict";
import { test } from "node:test";
import { FlowSchema, PriorityLevelConfiguration } from "#api";
import { virtualClock } from "#base";
import { startServer } from "../library.ts";

const schemas = { schema: FlowSchema, plural: "flowschemas", namespaced: false } as const;
const levels = {
  schema: PriorityLevelConfiguration,
  plural: "prioritylevelconfigurations",
  namespaced: false,
} as const;
const annotation = "apf.orch.io/autoupdate-spec";

test("a new cluster has the default priority levels and flow schemas, none of them dangling", async () => {
  await using server = await startServer({ store: "memory" });
  const found = (await server.client.of(schemas).list()).items;
  assert.equal(found.length, 13);
  assert.equal((await server.client.of(levels).list()).items.length, 8);
  for (const { status } of found) assert.equal(status.conditions?.[0]?.status, "False");
});

test("without priority and fairness no Dangling condition is maintained", async () => {
  await using server = await startServer({
    store: "memory",
    flags: ["--enable-priority-and-fairness=false"],
  });
  const found = (await server.client.of(schemas).list()).items;
  assert.equal(found.length, 13);
  for (const { status } of found) assert.equal(status.conditions, undefined);
  const { text } = await server.inject({ path: "/livez?verbose" });
  const hooks = [...(await text()).matchAll(/poststarthook\/((?:priority-and|max-in).*) ok/g)].map(
    ([, name]) => name,
  );
  assert.deepEqual(hooks, ["max-in-flight-filter", "priority-and-fairness-config-producer"]);
});

test("the Dangling condition is updated when a flow schema or priority level changes", async () => {
  // The clock stands still, so no timer triggers anything here.
  await using server = await startServer({ store: "memory", clock: virtualClock(Date.now()) });
  const [schemaClient, levelClient] = [server.client.of(schemas), server.client.of(levels)];
  const expectDangling = async (expected: string): Promise<void> => {
    let status = "";
    for (let round = 0; round < 500 && status !== expected; round++) {
      status = (await schemaClient.get("mine")).status.conditions?.[0]?.status ?? "";
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(status, expected);
  };
  await schemaClient.create({
    metadata: { name: "mine" },
    spec: { priorityLevelConfiguration: { name: "level" }, matchingPrecedence: 1000 },
  });
  await expectDangling("True");
  await levelClient.create({
    metadata: { name: "level" },
    spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } },
  });
  await expectDangling("False");
  await levelClient.delete("level");
  await expectDangling("True");
});

test("mandatory objects are restored; suggested ones only while they are auto-updated", async () => {
  const clock = virtualClock(Date.now());
  await using server = await startServer({ store: "memory", clock });
  const client = server.client.of(schemas);
  const change = (name: string, precedence: number, ours?: string) =>
    client.patch(name, "merge", {
      metadata: { annotations: { [annotation]: ours ?? null } },
      spec: { matchingPrecedence: precedence },
    });
  await change("system-nodes", 501, "true");
  await change("probes", 3);
  await client.delete("catch-all");
  await client.delete("global-default");
  const precedence = async (name: string): Promise<number> =>
    (await client.get(name)).spec.matchingPrecedence;
  const restored = async (): Promise<boolean> =>
    (await client.list()).items.length === 13 && (await precedence("system-nodes")) === 500;
  for (let minute = 0; minute < 50 && !(await restored()); minute++) await clock.advance(60_000);
  assert.equal(await precedence("system-nodes"), 500);
  assert.equal(await precedence("probes"), 3);
  assert.equal((await client.get("probes")).metadata.annotations?.[annotation], "false");
});

test("an auto-updated object that is not among this release's defaults is removed", async () => {
  const clock = virtualClock(Date.now());
  await using server = await startServer({ store: "memory", clock });
  const client = server.client.of(schemas);
  for (const mark of ["true", "false"])
    await client.create({
      metadata: { name: `marked-${mark}`, annotations: { [annotation]: mark } },
      spec: { priorityLevelConfiguration: { name: "global-default" }, matchingPrecedence: 1000 },
    });
  const names = async (): Promise<(string | undefined)[]> =>
    (await client.list()).items.map(({ metadata }) => metadata.name);
  for (let minute = 0; minute < 50 && (await names()).includes("marked-true"); minute++)
    await clock.advance(60_000);
  const left = await names();
  assert.deepEqual([left.includes("marked-true"), left.includes("marked-false")], [false, true]);
});
