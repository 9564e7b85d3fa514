import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { serve } from "../../server.fixture.ts";

test("a definition that changes ends the watch of its objects, and the server goes on", async () => {
  const clock = virtualClock(Date.parse("2020-01-01T00:00:00Z"));
  const { must, ask, place } = await serve({ clock });
  const path = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
  const schema = { openAPIV3Schema: { type: "object", "x-orch-preserve-unknown-fields": true } };
  const versions = ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v1", schema }));
  const names = { plural: "widgets", kind: "Widget" };
  const spec = { group: "example.com", scope: "Namespaced", names, versions };
  await must(201, "POST", path, { body: { metadata: { name: "widgets.example.com" }, spec } });
  while ((await ask("GET", "/apis/example.com/v2")).status !== 200) await new Promise(setImmediate);
  const ns = await place();
  const widgets = (version: string): string => `/apis/example.com/${version}/namespaces/${ns}/widgets`;
  const body = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" } };
  await must(201, "POST", widgets("v1"), { body });
  await must(200, "GET", widgets("v2"));
  // The changes so far are written down, and the new kind is watched from now on.
  await clock.advance(5000);
  await must(200, "GET", widgets("v2"));
  await must(200, "PATCH", `${path}/widgets.example.com`, {
    type: "application/merge-patch+json",
    body: { spec: { versions: versions.map((each) => ({ ...each, deprecated: each.name === "v2" })) } },
  });
  let warned: unknown;
  while (warned === undefined) warned = (await must(200, "GET", widgets("v2"))).headers["warning"];
  await clock.advance(5000);
  assert.equal((await must(200, "GET", `${widgets("v2")}/a`)).at("metadata.name"), "a");
});
