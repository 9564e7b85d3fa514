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
  ["the policy none admits everything", "none", [cpuAnywhere], undefined, true],
  ["nodes that all resources prefer are chosen", "restricted", [cpuAnywhere, gpuOnOne], [1], true],
  ["single-numa-node chooses one node", "single-numa-node", [cpuAnywhere, gpuOnOne], [1], true],
  ["best-effort admits conflicting preferences", "best-effort", [apart, gpuApart], [0], true],
  ["restricted does not admit conflicting preferences", "restricted", [apart, gpuApart], [0], false],
  [
    "single-numa-node does not admit conflicting preferences",
    "single-numa-node",
    [apart, gpuApart],
    undefined,
    false,
  ],
  ["no preference restricts nothing", "restricted", [null, { gpu: null }], [0, 1], true],
  ["an impossible allocation is not preferred", "restricted", [{ gpu: [] }], [0, 1], false],
];
for (const [name, policy, providers, nodes, admit] of cases)
  test(name, () => {
    const choice = chooseTopology(policy, providers, machine);
    assert.deepEqual([choice.hint.nodes && nodesOf(choice.hint.nodes), choice.admit], [nodes, admit]);
  });

test("of equally many nodes the closer ones are chosen with preferClosest", () => {
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

test("masks are generated in the order of their size", () => {
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
