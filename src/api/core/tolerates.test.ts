import assert from "node:assert/strict";
import { test } from "node:test";
import type { Toleration } from "./affinity.ts";
import { tolerates } from "./tolerates.ts";

const taint = { key: "k", value: "v", effect: "NoSchedule" };
const cases: [name: string, toleration: Toleration, tolerated: boolean][] = [
  ["a toleration of everything", { operator: "Exists" }, true],
  ["a toleration of everything with its effect", { operator: "Exists", effect: "NoSchedule" }, true],
  ["a toleration of everything with another effect", { operator: "Exists", effect: "NoExecute" }, false],
  ["the key, whatever its value", { key: "k", operator: "Exists" }, true],
  ["another key", { key: "other", operator: "Exists" }, false],
  ["the key and its value", { key: "k", value: "v" }, true],
  [
    "the key, value, operator and effect",
    { key: "k", operator: "Equal", value: "v", effect: "NoSchedule" },
    true,
  ],
  ["another value", { key: "k", value: "w" }, false],
  ["no key and no Exists operator", { value: "v" }, false],
];
for (const [name, toleration, tolerated] of cases)
  test(`a taint and ${name}: ${tolerated}`, () => assert.equal(tolerates(toleration, taint), tolerated));
test("a taint without a value is tolerated by a toleration without a value", () =>
  assert.equal(tolerates({ key: "k" }, { key: "k", effect: "NoSchedule" }), true));
