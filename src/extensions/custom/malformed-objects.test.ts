import assert from "node:assert/strict";
import { test } from "node:test";
import type { CustomResourceDefinition } from "#api";
import { virtualClock } from "#base";
import { dialects } from "#dialect";
import { openMemory } from "#store";
import { StoreReflector } from "#watchcache";
import { convertNothing } from "./conversion.ts";
import { customResources } from "./resources.ts";

const embedded = {
  type: "object",
  "x-orch-embedded-resource": true,
  "x-orch-preserve-unknown-fields": true,
};
const definition = {
  spec: {
    group: "example.com",
    names: { plural: "widgets", kind: "Widget" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { embedded } } },
      },
    ],
  },
  status: { acceptedNames: {} },
} as unknown as CustomResourceDefinition;

async function decoded(stored: object): Promise<Record<string, unknown>> {
  const store = await openMemory();
  const { signal } = new AbortController();
  const { storage } = customResources(definition, {
    dialect: dialects.orch,
    store,
    storePrefix: "/registry",
    reflector: new StoreReflector({ store, prefix: "/registry/", clock: virtualClock(), signal }),
    uncached: false,
    gates: { expressions: true, ratcheting: false },
    expressionRelease: 27,
    webhook: () => convertNothing,
    terminating: () => false,
  });
  const value = Buffer.from(JSON.stringify({ apiVersion: "example.com/v1", kind: "Widget", ...stored }));
  return storage.resource.decodeStored(value) as unknown as Record<string, unknown>;
}

const malformed = {
  annotations: { foo: 42, bar: "abc" },
  labels: { invalid: "x y" },
  unknown: 42,
  name: "n",
};
const kept = { name: "n", labels: { invalid: "x y" } };

const cases: [name: string, stored: object, read: object][] = [
  [
    "malformed fields of metadata are dropped, and others are kept",
    { metadata: malformed },
    { metadata: { ...kept, creationTimestamp: null, generation: 1 } },
  ],
  [
    "malformed metadata fields of embedded objects are dropped",
    { metadata: { name: "n", generation: 7 }, embedded: { apiVersion: 5, kind: "K", metadata: malformed } },
    {
      metadata: { name: "n", creationTimestamp: null, generation: 7 },
      embedded: { kind: "K", metadata: kept },
    },
  ],
  [
    "embedded metadata that is not an object is dropped as a whole",
    { metadata: { name: "n" }, embedded: { metadata: "m" } },
    { metadata: { name: "n", creationTimestamp: null, generation: 1 }, embedded: {} },
  ],
  [
    "an object without a generation gets generation 1",
    { metadata: { name: "n", generation: null } },
    { metadata: { name: "n", creationTimestamp: null, generation: 1 } },
  ],
];
for (const [name, stored, read] of cases)
  test(`in a stored custom resource, ${name}`, async () => {
    const { apiVersion, kind, ...rest } = await decoded(stored);
    assert.deepEqual([apiVersion, kind], ["example.com/v1", "Widget"]);
    assert.deepEqual(rest, read);
  });
