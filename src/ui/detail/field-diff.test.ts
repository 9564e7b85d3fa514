import assert from "node:assert/strict";
import { test } from "node:test";
import type { FieldChange } from "../api/wire.ts";
import { diffLines } from "./field-diff.ts";

const cases: [name: string, field: FieldChange, lines: string[]][] = [
  [
    "a changed value",
    { path: "spec.replicas", op: "changed", from: "1", to: "3" },
    ["spec.replicas", "- 1", "+ 3"],
  ],
  [
    "a new one",
    { path: "metadata.labels", op: "added", to: '{"a":"b"}' },
    ["metadata.labels", "+ {", '+   "a": "b"', "+ }"],
  ],
  ["one that is gone", { path: "a", op: "removed", from: '"x"' }, ["a", '- "x"']],
  ["a text of several lines", { path: "a", op: "added", to: '"x\\ny"' }, ["a", "+ x", "+ y"]],
  ["a value that was cut", { path: "a", op: "added", to: '{"a":…' }, ["a", '+ {"a":…']],
  [
    "a secret",
    { path: "data.key", op: "changed", withheld: true },
    ["data.key", "changed; the values are not shown"],
  ],
];
for (const [name, field, lines] of cases)
  test(`${name} is told`, () =>
    assert.deepEqual(
      diffLines([field]).map(({ text }) => text),
      lines,
    ));

test("what is left out is counted", () => {
  assert.equal(diffLines([], 2).at(-1)!.text, "and 2 more fields");
});
