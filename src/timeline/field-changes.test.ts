// The fields reported as changed between two revisions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldChanges } from "./field-changes.ts";

type Json = Record<string, unknown>;

const cases: [name: string, before: Json, after: Json, changes: string[]][] = [
  ["nothing", { a: { b: [1] } }, { a: { b: [1] } }, []],
  ["a value", { spec: { replicas: 1 } }, { spec: { replicas: 3 } }, ["spec.replicas changed 1 3"]],
  ["a new field", { spec: {} }, { spec: { x: { y: 1 } } }, ['spec.x added - {"y":1}']],
  ["a removed field", { spec: { x: "a" } }, { spec: {} }, ['spec.x removed "a" -']],
  [
    "an element by its name, at any position",
    { c: [{ name: "a", image: "1" }, { name: "b" }] },
    { c: [{ name: "b" }, { name: "a", image: "2" }] },
    ['c[name=a].image changed "1" "2"'],
  ],
  [
    "a condition by its type",
    { c: [{ type: "Ready", status: "False" }] },
    { c: [{ type: "Ready", status: "True" }] },
    ['c[type=Ready].status changed "False" "True"'],
  ],
  ["an element by its index", { args: ["a", "b"] }, { args: ["a", "c"] }, ['args[1] changed "b" "c"']],
  [
    "keys that are not plain names",
    { l: { "a/b": "1" } },
    { l: { "a/b": "2" } },
    ['l["a/b"] changed "1" "2"'],
  ],
  [
    "keys with names of inherited properties",
    { l: { constructor: "1" } },
    { l: JSON.parse('{"toString":"1","__proto__":"2"}') as Json },
    ['l.constructor removed "1" -', 'l.toString added - "1"', 'l.__proto__ added - "2"'],
  ],
  ["another type", { a: [1] }, { a: { b: 1 } }, ['a changed [1] {"b":1}']],
  [
    "neither bookkeeping nor heartbeat fields",
    {
      metadata: { managedFields: [1], resourceVersion: "1", generation: 1 },
      status: { c: [{ type: "A", lastHeartbeatTime: 1 }] },
    },
    {
      metadata: { managedFields: [2], resourceVersion: "2", generation: 2 },
      status: { c: [{ type: "A", lastHeartbeatTime: 2 }] },
    },
    [],
  ],
];

for (const [name, before, after, changes] of cases)
  test(`reports ${name}`, () => {
    const { fields, more } = fieldChanges(before, after, true);
    assert.deepEqual(
      fields.map(({ path, op, from = "-", to = "-" }) => `${path} ${op} ${from} ${to}`),
      changes,
    );
    assert.equal(more, 0);
  });

test("without values only the fields are reported", () => {
  assert.deepEqual(
    fieldChanges({ data: { password: "old" } }, { data: { password: "new", b: "1" } }, false),
    {
      fields: [
        { path: "data.password", op: "changed", withheld: true },
        { path: "data.b", op: "added", withheld: true },
      ],
      more: 0,
    },
  );
});

test("long values are truncated and further fields are counted", () => {
  const after = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}`, "x".repeat(1000)]));
  const { fields, more } = fieldChanges({}, after, true);
  assert.deepEqual([fields.length, more], [24, 6]);
  assert.equal(fields[0]!.to!.length, 257);
});
