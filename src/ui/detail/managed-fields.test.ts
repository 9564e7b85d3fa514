import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutManagedFields } from "./managed-fields.ts";

const object = (...managed: string[]): string =>
  [
    "apiVersion: v1",
    "metadata:",
    "  annotations:",
    "    note: |-",
    "      metadata:",
    "        managedFields:",
    "        - here",
    ...managed,
    "  name: a",
    "spec:",
    "  managedFields:",
    "  - stays",
    "",
  ].join("\n");

const cases: [name: string, managed: string[]][] = [
  [
    "in a list that is not indented",
    ["  managedFields:", "  - apiVersion: v1", "    fieldsV1:", "      f:a: {}", "  - b"],
  ],
  ["in a list that is", ["  managedFields:", "    - apiVersion: v1", "      manager: x"]],
  ["where there are none", []],
];
for (const [name, managed] of cases)
  test(`managed fields are removed ${name}, and nothing else`, () =>
    assert.equal(withoutManagedFields(object(...managed)), object()));

test("text without metadata is unchanged", () => assert.equal(withoutManagedFields("a: 1\n"), "a: 1\n"));
