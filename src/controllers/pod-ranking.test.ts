import assert from "node:assert/strict";
import { test } from "node:test";
import { compareByAge, compareForDeletion, deletionCost } from "./pod-ranking.ts";
import type { SeenPod } from "./pods.ts";

const now = Date.UTC(2030, 0, 1);
const rules = { now, costAnnotation: "cost", logarithmic: true };
interface Parts {
  node?: string;
  phase?: string;
  ready?: boolean;
  cost?: string;
  restarts?: number;
  age?: number;
}
const pod = ({ node = "n", phase = "Running", ready = true, cost, restarts = 0, age = 60 }: Parts): SeenPod =>
  ({
    metadata: {
      uid: String(age),
      creationTimestamp: new Date(now - age * 1000).toISOString(),
      ...(cost !== undefined && { annotations: { cost } }),
    },
    spec: { ...(node && { nodeName: node }) },
    status: {
      phase,
      conditions: [
        {
          type: "Ready",
          status: ready ? "True" : "False",
          lastTransitionTime: new Date(now - 60_000).toISOString(),
        },
      ],
      containerStatuses: [{ restartCount: restarts }],
    },
  }) as unknown as SeenPod;

const cases: [name: string, first: Parts, second: Parts, sameNode?: [number, number]][] = [
  ["unscheduled pods are deleted first", { node: "" }, {}],
  ["pending pods are deleted before running ones", { phase: "Pending" }, {}],
  ["pods that are not ready are deleted before ready ones", { ready: false }, {}],
  ["pods of lower deletion cost are deleted first", { cost: "-5" }, { cost: "5" }],
  ["pods on crowded nodes are deleted first", {}, {}, [3, 1]],
  ["pods with more restarts are deleted first", { restarts: 3 }, { restarts: 1 }],
  ["young pods are deleted before much older ones", { age: 10 }, { age: 10_000 }],
];
for (const [name, first, second, [a, b] = [0, 0]] of cases)
  test(name, () => {
    const [x, y] = [
      { pod: pod(first), sameNode: a },
      { pod: pod(second), sameNode: b },
    ];
    assert.ok(compareForDeletion(x, y, rules) < 0);
    assert.ok(compareForDeletion(y, x, rules) > 0);
  });

for (const [text, expected] of [
  ["7", 7],
  ["-3", -3],
  ["+3", 0],
  ["03", 0],
  ["x", 0],
  ["99999999999", 0],
] as const)
  test(`a deletion cost of ${text} counts as ${expected}`, () =>
    assert.equal(deletionCost(pod({ cost: text }), "cost"), expected));

const ofJobs: [name: string, first: Parts, second: Parts][] = [
  ["pods of a job that are not ready are deleted first", { ready: false }, {}],
  ["deletion costs of a job's pods are ignored", { cost: "5", age: 10 }, { cost: "-5", age: 20 }],
  ["the younger is deleted first, even if the ages differ little", { age: 59 }, { age: 60 }],
];
for (const [name, first, second] of ofJobs)
  test(name, () => {
    assert.ok(compareByAge(pod(first), pod(second)) < 0);
    assert.ok(compareByAge(pod(second), pod(first)) > 0);
  });

test("deletion costs count only if enabled", () => {
  const [dear, cheap] = [
    { pod: pod({ cost: "5", restarts: 3 }), sameNode: 0 },
    { pod: pod({ cost: "-5" }), sameNode: 0 },
  ];
  assert.ok(compareForDeletion(cheap, dear, rules) < 0);
  assert.ok(compareForDeletion(dear, cheap, { ...rules, costAnnotation: undefined }) < 0);
});

test("similar ages are decided by uid on the logarithmic scale, and exactly otherwise", () => {
  const [older, younger] = [100, 90].map((age) => ({ pod: pod({ age }), sameNode: 0 }));
  const first = (logarithmic: boolean): string =>
    compareForDeletion(older!, younger!, { ...rules, logarithmic }) < 0 ? "older" : "younger";
  assert.deepEqual([first(true), first(false)], ["older", "younger"]);
});
