// Defaults of the requested version and of the storage version.
import assert from "node:assert/strict";
import { test } from "node:test";
import { define, must, spec, version, widget } from "./custom-resources.fixture.ts";

const defaulting = (own: string) => {
  const field = (name: string) => ({ type: "string", ...(name === own && { default: name }) });
  return spec({ v1: field("v1"), v1beta1: field("v1beta1") });
};

test("the response to a write in another version has the defaults of the storage version, too", async () => {
  const kind = await define([
    version(defaulting("v1")),
    version(defaulting("v1beta1"), { name: "v1beta1", storage: false }),
  ]);
  const widgets = `/apis/${kind.group}/v1beta1/namespaces/default/widgets`;
  const body = widget(kind, "w", { spec: {} }, "v1beta1");
  for (const path of [`${widgets}?dryRun=All`, widgets])
    assert.deepEqual((await must(201, "POST", path, { body })).at("spec"), { v1: "v1", v1beta1: "v1beta1" });
});

test("a default with unknown fields of embedded metadata is used without them", async () => {
  const embedded = {
    type: "object",
    "x-orch-embedded-resource": true,
    "x-orch-preserve-unknown-fields": true,
    default: { apiVersion: "v1", kind: "Inner", metadata: { name: "n", other: "o" } },
  };
  const kind = await define([version({ embedded })]);
  const widgets = `/apis/${kind.group}/v1/namespaces/default/widgets`;
  const answer = await must(201, "POST", widgets, { body: widget(kind, "w", {}) });
  assert.deepEqual(answer.at("embedded.metadata"), { name: "n" });
});
