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
  ["nothing asked", {}, true],
  ["a label it has", { nodeSelector: { zone: "a" } }, true],
  ["a label of another value", { nodeSelector: { zone: "b" } }, false],
  ["a name every object has is no label", { nodeSelector: { constructor: "x" } }, false],
  ["one of several values", required(term("zone", "In", "b", "a")), true],
  ["none of several values", required(term("zone", "NotIn", "a")), false],
  ["none of several values of a label it lacks", required(term("none", "NotIn", "a")), true],
  ["a label that is there", required(term("zone", "Exists")), true],
  ["a label that is not", required(term("toString", "DoesNotExist")), true],
  ["more than", required(term("size", "Gt", "4")), true],
  ["not more than", required(term("size", "Gt", "5")), false],
  ["less than", required(term("size", "Lt", "6")), true],
  ["text that begins with a number is none", required(term("odd", "Gt", "4")), false],
  ["a bound that is no number", required(term("size", "Gt", "x")), false],
  ["any of the terms is enough", required(term("zone", "In", "b"), term("size", "Exists")), true],
  ["its name", required({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] }), true],
  [
    "another's name",
    required({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n2"] }] }),
    false,
  ],
  ["a term without requirements", required({}), false],
  ["no terms at all", required(), false],
];
for (const [name, spec, wanted] of cases)
  test(`${name}: ${wanted ? "wanted" : "not wanted"}`, () =>
    assert.equal(podMatchesNode(spec, node), wanted));
