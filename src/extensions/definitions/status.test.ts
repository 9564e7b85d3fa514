import assert from "node:assert/strict";
import { test } from "node:test";
import type { CustomResourceDefinition } from "#api";
import { dialects } from "#dialect";
import { reconcileStatus } from "./status.ts";

const keeps = "spec.preserveUnknownFields: Invalid value: true: must be false";
const cases: [
  name: string,
  keepsUnknown: boolean,
  schema: object | undefined,
  expected: string[] | undefined,
][] = [
  ["a definition that drops unknown fields", false, { type: "object" }, undefined],
  [
    "a definition that preserves unknown fields, without a schema",
    true,
    undefined,
    ["True", "Violations", keeps],
  ],
  [
    "a definition that preserves unknown fields, with an incomplete schema",
    true,
    { type: "object", properties: { a: {} } },
    [
      "True",
      "Violations",
      `[${keeps}, spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields]`,
    ],
  ],
  [
    "a definition with a schema that cannot be structural",
    true,
    { type: "object", $ref: "#/x" },
    [
      "Unknown",
      "StructuralError",
      "failed to check validation schema for version v1: OpenAPIV3Schema '$ref' is not supported",
    ],
  ],
];
for (const [name, preserveUnknownFields, openAPIV3Schema, expected] of cases)
  test(`${name} gets ${expected ? expected[1] : "no condition"}`, () => {
    const definition: CustomResourceDefinition = {
      kind: "CustomResourceDefinition",
      apiVersion: "v1",
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        names: { plural: "widgets", kind: "Widget" },
        scope: "Namespaced",
        preserveUnknownFields,
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            ...(openAPIV3Schema && { schema: { openAPIV3Schema } }),
          },
        ],
      },
      status: { conditions: [], acceptedNames: { plural: "", kind: "" }, storedVersions: [] },
    } as unknown as CustomResourceDefinition;
    reconcileStatus(definition, [], dialects.orch, new Date(0));
    const found = definition.status.conditions?.find(({ type }) => type === "NonStructuralSchema");
    assert.deepEqual(found && [found.status, found.reason, found.message], expected);
  });
