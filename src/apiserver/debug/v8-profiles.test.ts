import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuStacks, heapStacks } from "./v8-profiles.ts";

const frame = (functionName: string, lineNumber = 0) => ({ functionName, url: "a.ts", lineNumber });

test("processor time is attributed to the sampled stack; idle time is left out", () => {
  const stacks = cpuStacks({
    nodes: [
      { id: 1, callFrame: frame("(root)"), children: [2, 4] },
      { id: 2, callFrame: frame("outer"), children: [3] },
      { id: 3, callFrame: frame("inner") },
      { id: 4, callFrame: frame("(idle)") },
    ],
    startTime: 0,
    endTime: 4000,
    samples: [3, 3, 4, 2],
    timeDeltas: [0, 1000, 1000, 500],
  });
  assert.deepEqual(
    stacks.map(({ stack, values }) => [stack.map(({ functionName }) => functionName), values]),
    [
      [
        ["inner", "outer"],
        [2, 2_000_000],
      ],
      [["outer"], [1, 500_000]],
    ],
  );
});

test("heap bytes are attributed to the allocating stack", () => {
  const leaf = { callFrame: frame("make"), selfSize: 64, id: 3, children: [] };
  const outer = { callFrame: frame("outer"), selfSize: 0, id: 2, children: [leaf] };
  const stacks = heapStacks({
    head: { callFrame: frame("(root)"), selfSize: 0, id: 1, children: [outer] },
    samples: [
      { size: 32, nodeId: 3 },
      { size: 32, nodeId: 3 },
    ],
  });
  assert.deepEqual(
    stacks.map(({ stack, values }) => [stack.map(({ functionName }) => functionName), values]),
    [
      [
        ["make", "outer"],
        [2, 64],
      ],
    ],
  );
});
