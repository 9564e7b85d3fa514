import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "#schema";
import { fromBeta } from "./from-beta.ts";

const specOf = (spec: JsonObject): JsonObject =>
  fromBeta({ metadata: { name: "things.example.com" }, spec: { names: { kind: "Thing" }, ...spec } })[
    "spec"
  ] as JsonObject;

test("properties common to all versions are copied to each version", () => {
  const { versions } = specOf({
    version: "v1",
    versions: [
      { name: "v1", served: true, storage: true },
      { name: "v2", served: true, storage: false },
    ],
    validation: { openAPIV3Schema: { type: "object" } },
    subresources: { status: {} },
    additionalPrinterColumns: [{ name: "Age", type: "date", JSONPath: ".metadata.creationTimestamp" }],
  });
  const common = {
    served: true,
    schema: { openAPIV3Schema: { type: "object" } },
    subresources: { status: {} },
    additionalPrinterColumns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
  };
  assert.deepEqual(versions, [
    { name: "v1", storage: true, ...common },
    { name: "v2", storage: false, ...common },
  ]);
});

test("a single version becomes the list of versions", () => {
  assert.deepEqual(specOf({ version: "v1" })["versions"], [{ name: "v1", served: true, storage: true }]);
});

test("omitted fields get the defaults of v1beta1", () => {
  const { names, scope, preserveUnknownFields, conversion } = specOf({ version: "v1" });
  assert.deepEqual(names, { kind: "Thing", singular: "thing", listKind: "ThingList" });
  assert.deepEqual([scope, preserveUnknownFields, conversion], ["Namespaced", true, { strategy: "None" }]);
});

test("the fields of the conversion webhook are moved to one object", () => {
  const { conversion } = specOf({
    conversion: {
      strategy: "Webhook",
      webhookClientConfig: { service: { namespace: "n", name: "s" }, caBundle: "Cg==" },
    },
  });
  assert.deepEqual(conversion, {
    strategy: "Webhook",
    webhook: {
      conversionReviewVersions: ["v1beta1"],
      clientConfig: { service: { port: 443, namespace: "n", name: "s" }, caBundle: "Cg==" },
    },
  });
});
