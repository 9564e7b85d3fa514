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
  ["a removed value", { path: "a", op: "removed", from: '"x"' }, ["a", '- "x"']],
  ["a multi-line string", { path: "a", op: "added", to: '"x\\ny"' }, ["a", "+ x", "+ y"]],
  ["a truncated value", { path: "a", op: "added", to: '{"a":…' }, ["a", '+ {"a":…']],
  [
    "a secret",
    { path: "data.key", op: "changed", withheld: true },
    ["data.key", "changed; the values are not shown"],
  ],
];
for (const [name, field, lines] of cases)
  test(`${name} is shown as a diff`, () =>
    assert.deepEqual(
      diffLines([field]).map(({ text }) => text),
      lines,
    ));

test("omitted fields are counted", () => {
  assert.equal(diffLines([], 2).at(-1)!.text, "and 2 more fields");
});
