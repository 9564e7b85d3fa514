import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { applyStructuralDefaults } from "./defaults.ts";
import { pruneValue } from "./prune.ts";
import { structuralOf } from "./structural.ts";

const embedded = { type: "object", "x-orch-embedded-resource": true };
const schemaOf = (properties: object) => structuralOf({ type: "object", properties }, dialects.orch);
const schema = schemaOf({
  inner: embedded,
  list: { type: "array", items: { type: "object", properties: { inner: embedded } } },
});

const wrong: [name: string, value: object, message: string][] = [
  [
    "metadata with a field of the wrong type",
    { inner: { metadata: { namespace: 5 } } },
    'inner.metadata: Invalid value: map[string]interface {}{"namespace":5}: json: cannot unmarshal number into Go struct field ObjectMeta.namespace of type string',
  ],
  [
    "metadata that is not an object, at any location",
    { list: [{}, { inner: { metadata: "m" } }] },
    'list[1].inner.metadata: Invalid value: "m": json: cannot unmarshal string into Go value of type v1.ObjectMeta',
  ],
  ["a kind that is not a string", { inner: { kind: 5 } }, "inner.kind: Invalid value: 5: must be a string"],
];
for (const [name, value, message] of wrong)
  test(`${name} is reported with its path`, () => {
    const walk = { own: false, keys: 0, depthLeft: 100, unknown: false, numbers: false };
    assert.throws(() => pruneValue(value, schema, "", walk), { name: "DecodeError", message });
  });

test("null is accepted as empty embedded metadata", () => {
  const walk = { own: false, keys: 0, depthLeft: 100, unknown: false, numbers: false };
  assert.deepEqual(pruneValue({ inner: { metadata: null } }, schema, "", walk), { inner: { metadata: {} } });
});

const known = { apiVersion: "v1", kind: "K", metadata: { name: "n" } };
const given = { ...known, metadata: { name: "n", other: "o" } };
const defaults: [name: string, inner: object, value: object][] = [
  ["the object", { ...embedded, default: given }, {}],
  [
    "the value that contains the object",
    { type: "object", properties: { deep: embedded }, default: { deep: given } },
    {},
  ],
  [
    "metadata",
    { ...embedded, properties: { metadata: { type: "object", default: given.metadata } } },
    { inner: { apiVersion: "v1", kind: "K" } },
  ],
  [
    "fields of metadata",
    {
      ...embedded,
      properties: {
        metadata: {
          type: "object",
          properties: { name: { type: "string", default: "n" }, other: { type: "string", default: "o" } },
        },
      },
    },
    { inner: { apiVersion: "v1", kind: "K", metadata: {} } },
  ],
];
for (const [name, inner, value] of defaults)
  test(`a default of ${name} sets only known fields of embedded metadata`, () => {
    const filled = structuredClone(value) as { inner: { deep?: object } };
    applyStructuralDefaults(filled, schemaOf({ inner }));
    assert.deepEqual(filled.inner.deep ?? filled.inner, known);
  });
