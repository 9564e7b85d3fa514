import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ProviderHints,
  type TopologyPolicy,
  chooseTopology,
  everyMask,
  maskOf,
  nodesOf,
} from "./numa.ts";

const machine = {
  nodes: [0, 1],
  distances: new Map([
    [0, [10, 20]],
    [1, [20, 10]],
  ]),
  preferClosest: false,
};
const hint = (nodes: number[], preferred: boolean) => ({ nodes: maskOf(nodes), preferred });
const cpuAnywhere = { cpu: [hint([0], true), hint([1], true), hint([0, 1], false)] };
const gpuOnOne = { gpu: [hint([1], true)] };
const apart = { cpu: [hint([0], true), hint([0, 1], false)] };
const gpuApart = { gpu: [hint([1], true), hint([0, 1], false)] };

const cases: [
  name: string,
  policy: TopologyPolicy,
  providers: readonly (ProviderHints | null)[],
  nodes: readonly number[] | undefined,
  admit: boolean,
][] = [
  ["none admits anything", "none", [cpuAnywhere], undefined, true],
  ["what all prefer is taken", "restricted", [cpuAnywhere, gpuOnOne], [1], true],
  ["on one node where that is asked for", "single-numa-node", [cpuAnywhere, gpuOnOne], [1], true],
  ["best-effort admits what does not fit together", "best-effort", [apart, gpuApart], [0], true],
  ["restricted does not", "restricted", [apart, gpuApart], [0], false],
  ["single-numa-node does not either", "single-numa-node", [apart, gpuApart], undefined, false],
  ["no preference restricts nothing", "restricted", [null, { gpu: null }], [0, 1], true],
  ["what is impossible is not preferred", "restricted", [{ gpu: [] }], [0, 1], false],
];
for (const [name, policy, providers, nodes, admit] of cases)
  test(name, () => {
    const choice = chooseTopology(policy, providers, machine);
    assert.deepEqual([choice.hint.nodes && nodesOf(choice.hint.nodes), choice.admit], [nodes, admit]);
  });

test("of nodes that are equally many, the nearer are better where that is asked for", () => {
  const nodes = [0, 1, 2];
  const distances = new Map([
    [0, [10, 30, 20]],
    [1, [30, 10, 30]],
    [2, [20, 30, 10]],
  ]);
  const pairs = { cpu: [hint([0, 1], true), hint([0, 2], true)] };
  const best = (preferClosest: boolean) =>
    nodesOf(chooseTopology("best-effort", [pairs], { nodes, distances, preferClosest }).hint.nodes!);
  assert.deepEqual(best(false), [0, 1]);
  assert.deepEqual(best(true), [0, 2]);
});

test("masks come in order of size", () => {
  assert.deepEqual([...everyMask([0, 1, 2])].map(nodesOf), [
    [0],
    [1],
    [2],
    [0, 1],
    [0, 2],
    [1, 2],
    [0, 1, 2],
  ]);
});
