import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonPath } from "./json-path.ts";

const object = {
  spec: {
    replicas: 3,
    "a.b": "dotted",
    ports: [
      { name: "x", port: 1 },
      { name: "y", port: 2 },
    ],
  },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False" },
    ],
  },
};

const cases: [path: string, values: unknown[]][] = [
  [".spec.replicas", [3]],
  [".spec['a.b']", ["dotted"]],
  [".spec.ports[1].name", ["y"]],
  [".spec.ports[-1].name", ["y"]],
  [".spec.ports[*].port", [1, 2]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".spec.ports[?(@.port>1)].name", ["y"]],
  [".spec.missing.deeper", []],
  [".", [object]],
];
for (const [path, values] of cases)
  test(`what stands at ${path}`, () => assert.deepEqual(jsonPath(path)!(object), values));

test("a path that cannot be read finds nothing", () => {
  assert.equal(jsonPath(".spec[?(broken"), undefined);
});
