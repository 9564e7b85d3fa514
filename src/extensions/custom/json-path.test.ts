import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonPath } from "./json-path.ts";

const object = {
  metadata: { labels: { "app.example.com/name": "web" } },
  spec: {
    replicas: 3,
    ratio: 1.5,
    none: null,
    "a b": "spaced",
    ports: [
      { name: "x", port: 1 },
      { name: "y", port: 2, main: true },
      { name: "z)", port: 3 },
    ],
  },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False" },
    ],
  },
};

const cases: [path: string, values: readonly unknown[]][] = [
  [".spec.replicas", [3]],
  [".metadata.labels.app\\.example\\.com/name", ["web"]],
  [".metadata.labels['app\\.example\\.com/name']", ["web"]],
  [".metadata.labels['app.example.com/name']", []],
  [".spec.a\\ b", ["spaced"]],
  [".spec.none", [null]],
  [".spec.none.deeper", []],
  [".spec.missing.deeper", []],
  [".spec.replicas.deeper", []],
  [".spec.ports[1].name", ["y"]],
  [".spec.ports[-1].name", ["z)"]],
  [".spec.ports[].name", ["x"]],
  [".spec.ports[9].name", []],
  [".spec.ports[*].port", [1, 2, 3]],
  [".spec.ports[1:].port", [2, 3]],
  [".spec.ports[:2].port", [1, 2]],
  [".spec.ports[0:3:2].port", [1, 3]],
  [".spec.ports[0,2].port", [1, 3]],
  [".spec['replicas','ratio']", [3, 1.5]],
  [".spec.ports.*.port", [1, 2, 3]],
  [".spec.replicas[0]", []],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type=='Ready')].status", ["True"]],
  [".status.conditions[?(@.type!='Ready')].status", ["False"]],
  [".spec.ports[?(@.port>1)].name", ["y", "z)"]],
  [".spec.ports[?(@.port>1.0)].name", []],
  [".spec.ports[?(@.port<=1)].name", ["x"]],
  [".spec.ports[?(@.main)].name", ["y"]],
  [".spec.ports[?(@.main==true)].name", ["y"]],
  [".spec.ports[?(@.name=='z)')].port", [3]],
  [".spec.ports[?(@.name==1)].port", []],
  [".spec.ports[?(@.port=1)].port", []],
  [".spec[?(@.replicas)]", []],
  ["..type", ["Ready", "Other"]],
  [".spec..name", ["x", "y", "z)"]],
  [".", []],
  [".spec.replicas range", []],
];
for (const [path, values] of cases)
  test(`the values at ${path}`, () => assert.deepEqual(jsonPath(path)?.(object), values));

for (const path of [
  ".spec[?(broken",
  ".spec[0",
  ".spec[a]",
  '.spec["a"]',
  ".spec....a",
  ".spec.a\n",
  ".spec.a ,b",
])
  test(`${JSON.stringify(path)} is invalid`, () => assert.equal(jsonPath(path), undefined));
