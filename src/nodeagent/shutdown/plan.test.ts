import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { inhibitSeconds, shutdownPlan, shutdownSteps } from "./plan.ts";

const podOf = (name: string, priority?: number, terminationGracePeriodSeconds?: number): Pod =>
  ({ metadata: { name }, spec: { priority, terminationGracePeriodSeconds } }) as unknown as Pod;
const settings = { graceSeconds: 0, criticalSeconds: 0, byPriority: [] };
const planOf = (steps: ReturnType<typeof shutdownSteps>, pods: readonly Pod[]) =>
  shutdownPlan(steps, pods).map(({ seconds, pods: all }) => [
    seconds,
    all.map(({ pod, graceSeconds }) => `${pod.metadata.name} ${graceSeconds}`),
  ]);

test("without a grace period shutdowns are not handled", () => {
  assert.deepEqual(shutdownSteps(settings), []);
});

test("the last part of the grace period is for critical pods", () => {
  const steps = shutdownSteps({ ...settings, graceSeconds: 30, criticalSeconds: 10 });
  assert.equal(inhibitSeconds(steps), 30);
  assert.deepEqual(
    planOf(steps, [podOf("plain", 0, 60), podOf("quick", undefined, 5), podOf("system", 2_000_000_000)]),
    [
      [20, ["plain 20", "quick 5"]],
      [10, ["system 10"]],
    ],
  );
});

test("each step covers priorities up to the next, the lowest also those below it", () => {
  const byPriority = [
    { priority: 1000, shutdownGracePeriodSeconds: 120 },
    { priority: 10, shutdownGracePeriodSeconds: 60 },
  ];
  const steps = shutdownSteps({ graceSeconds: 99, criticalSeconds: 9, byPriority });
  assert.equal(inhibitSeconds(steps), 180);
  assert.deepEqual(
    planOf(steps, [podOf("below", -5), podOf("exact", 1000), podOf("between", 999), podOf("above", 5000)]),
    [
      [60, ["below 60", "between 60"]],
      [120, ["exact 120", "above 120"]],
    ],
  );
});
