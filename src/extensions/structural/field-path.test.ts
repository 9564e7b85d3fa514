import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldPathOf } from "./field-path.ts";

const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        "a.b": { type: "string" },
        "it's": { type: "string" },
        labels: { type: "object", additionalProperties: { type: "object", properties: { x: {} } } },
        any: { type: "object", additionalProperties: true },
        list: { type: "array", items: { type: "string" } },
      },
    },
  },
};

const cases: [path: string, shown: string | undefined][] = [
  [".spec", "spec"],
  [".spec.list", "spec.list"],
  [".spec['a.b']", "spec.a.b"],
  [String.raw`['spec']['it\'s']`, "spec.it's"],
  [".spec.labels.k.x", "spec.labels[k].x"],
  [".spec.labels['k.l']", "spec.labels[k.l]"],
  [".spec.any.k", "spec.any[k]"],
  [".spec.any.k.l", undefined],
  [".spec.list[0]", undefined],
  [".spec.list['0']", undefined],
  [".spec.missing", undefined],
  [".spec.constructor", undefined],
  ["spec", undefined],
  [".", undefined],
  [".spec.", undefined],
  [".spec['a.b'", undefined],
  [".spec['a.b", undefined],
  [String.raw`['\q']`, undefined],
  [" ", undefined],
];
for (const [path, shown] of cases)
  test(`the path ${path} is ${shown === undefined ? "rejected" : `shown as ${shown}`}`, () => {
    assert.equal(fieldPathOf(path, schema), shown);
  });
