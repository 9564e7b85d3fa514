import assert from "node:assert/strict";
import { test } from "node:test";
import { type LimitInput, type ScaleHistory, limitReplicas } from "./behavior.ts";
import { replicasForAverage, replicasForUtilization } from "./replicas.ts";

const input = (more: Partial<LimitInput>): LimitInput => ({
  current: 2,
  desired: 2,
  min: 1,
  max: 10,
  behavior: undefined,
  downscaleWindowSeconds: 300,
  now: 1_000_000,
  ...more,
});
const history = (): ScaleHistory => ({ recommendations: [], added: [], removed: [] });

const cases: [name: string, given: Partial<LimitInput>, replicas: number, reason: string][] = [
  ["nothing is limited within the range", { desired: 4 }, 4, "DesiredWithinRange"],
  ["the maximum limits the replicas", { desired: 50, max: 4 }, 4, "TooManyReplicas"],
  [
    "the minimum limits the replicas",
    { current: 3, desired: 0, min: 2, behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } },
    2,
    "TooFewReplicas",
  ],
  ["scale-up is limited to four pods", { current: 1, desired: 10 }, 4, "ScaleUpLimit"],
  ["scale-up is limited to twice the current replicas", { current: 3, desired: 10 }, 6, "ScaleUpLimit"],
  [
    "with a behavior, scale-up is limited to four more or twice the replicas",
    { desired: 10, behavior: {} },
    6,
    "ScaleUpLimit",
  ],
  [
    "a disabled direction does not scale",
    {
      desired: 1,
      behavior: { scaleDown: { selectPolicy: "Disabled", stabilizationWindowSeconds: 0 } },
    },
    2,
    "ScaleDownLimit",
  ],
];
for (const [name, given, replicas, reason] of cases)
  test(name, () => {
    const limited = limitReplicas(input(given), history());
    assert.deepEqual([limited.replicas, limited.reason], [replicas, reason]);
  });

test("a recent higher recommendation prevents scale-down", () => {
  const past: ScaleHistory = { recommendations: [{ at: 990_000, value: 5 }], added: [], removed: [] };
  const limited = limitReplicas(input({ current: 5, desired: 1 }), past);
  assert.deepEqual([limited.replicas, limited.stabilized], [5, "down"]);
});

test("without a behavior, a recent recommendation above the current replicas is used", () => {
  const past: ScaleHistory = { recommendations: [{ at: 990_000, value: 6 }], added: [], removed: [] };
  const { replicas, reason, stabilized } = limitReplicas(input({ current: 4, desired: 4, max: 4 }), past);
  assert.deepEqual([replicas, reason, stabilized], [4, "TooManyReplicas", "down"]);
});

test("a scale-up window prevents scale-up", () => {
  const past: ScaleHistory = { recommendations: [{ at: 990_000, value: 2 }], added: [], removed: [] };
  const behavior = { scaleUp: { stabilizationWindowSeconds: 30 } };
  const limited = limitReplicas(input({ desired: 8, behavior }), past);
  assert.deepEqual([limited.replicas, limited.stabilized], [2, "up"]);
});

const pod = (name: string) =>
  ({
    metadata: { name },
    status: {
      phase: "Running",
      startTime: "2020-01-01T00:00:00Z",
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2020-01-01T00:00:00Z" }],
    },
  }) as never;
const settings = { tolerance: 0.1, cpuInitializationMilliseconds: 0, initialReadinessDelayMilliseconds: 0 };
const metric = (value: number) => ({ value, timestamp: 0, windowMilliseconds: 0 });
const shared = {
  current: 2,
  pods: [pod("a"), pod("b")],
  resource: "cpu",
  now: Date.UTC(2030, 0, 1),
  settings,
};

test("utilization above the target scales up, and within the tolerance does not scale", () => {
  const requests = new Map([
    ["a", 100],
    ["b", 100],
  ]);
  const used = (value: number) =>
    new Map([
      ["a", metric(value)],
      ["b", metric(value)],
    ]);
  assert.deepEqual(replicasForUtilization({ ...shared, target: 50, requests, metrics: used(100) }), {
    replicas: 4,
    utilization: 100,
    averageValue: 100,
  });
  assert.equal(replicasForUtilization({ ...shared, target: 50, requests, metrics: used(52) }).replicas, 2);
});
test("a pod without metrics counts as idle on scale-up and as fully used on scale-down", () => {
  assert.equal(
    replicasForAverage({ ...shared, target: 100, metrics: new Map([["a", metric(300)]]) }).replicas,
    3,
  );
  assert.equal(
    replicasForAverage({ ...shared, target: 100, metrics: new Map([["a", metric(10)]]) }).replicas,
    2,
  );
});
