import assert from "node:assert/strict";
import { test } from "node:test";
import { podMatchesNode } from "./pod-matches-node.ts";

const node = { name: "n1", labels: { zone: "a", size: "5", odd: "5x" } };
const required = (...nodeSelectorTerms: object[]) =>
  ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  }) as never;
const term = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, values }],
});

const cases: [name: string, spec: Parameters<typeof podMatchesNode>[0], wanted: boolean][] = [
  ["no requirements", {}, true],
  ["a label with the required value", { nodeSelector: { zone: "a" } }, true],
  ["a label with another value", { nodeSelector: { zone: "b" } }, false],
  ["an inherited property is not a label", { nodeSelector: { constructor: "x" } }, false],
  ["a label value in a list", required(term("zone", "In", "b", "a")), true],
  ["a label value in a NotIn list", required(term("zone", "NotIn", "a")), false],
  ["a NotIn list for a missing label", required(term("none", "NotIn", "a")), true],
  ["an existing label", required(term("zone", "Exists")), true],
  ["a missing label", required(term("toString", "DoesNotExist")), true],
  ["more than", required(term("size", "Gt", "4")), true],
  ["not more than", required(term("size", "Gt", "5")), false],
  ["less than", required(term("size", "Lt", "6")), true],
  ["a label value that only starts with a number", required(term("odd", "Gt", "4")), false],
  ["a bound that is not a number", required(term("size", "Gt", "x")), false],
  ["one of several terms", required(term("zone", "In", "b"), term("size", "Exists")), true],
  [
    "the name of the node",
    required({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] }),
    true,
  ],
  [
    "the name of another node",
    required({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n2"] }] }),
    false,
  ],
  ["a term without requirements", required({}), false],
  ["no terms at all", required(), false],
];
for (const [name, spec, wanted] of cases)
  test(`${name}: ${wanted ? "wanted" : "not wanted"}`, () =>
    assert.equal(podMatchesNode(spec, node), wanted));
