import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { type ConditionNow, setCondition } from "./pod-conditions.ts";

const [before, now] = ["2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"];
type Conditions = NonNullable<Pod["status"]["conditions"]>;
const condition = (type: string, status: string, time: string, reason?: string): Conditions[number] => ({
  lastProbeTime: null,
  type,
  status,
  ...(reason !== undefined && { reason }),
  lastTransitionTime: time,
});
const ready = condition("Ready", "True", before);
const initialized = condition("Initialized", "True", before);

const cases: [rule: string, there: Conditions | undefined, put: ConditionNow, expected: Conditions][] = [
  [
    "the first condition creates the list",
    undefined,
    { type: "Ready", status: "True" },
    [condition("Ready", "True", now)],
  ],
  [
    "a condition of a new type is appended",
    [ready],
    { type: "DisruptionTarget", status: "True" },
    [ready, condition("DisruptionTarget", "True", now)],
  ],
  [
    "a changed condition keeps its position and leaves the others unchanged",
    [ready, condition("PodScheduled", "False", before, "Unschedulable"), initialized],
    { type: "PodScheduled", status: "True" },
    [ready, condition("PodScheduled", "True", now), initialized],
  ],
  [
    "a condition with only another reason keeps its time",
    [initialized, condition("Ready", "False", before, "Waiting")],
    { type: "Ready", status: "False", reason: "Stopping" },
    [initialized, condition("Ready", "False", before, "Stopping")],
  ],
];
for (const [rule, there, put, expected] of cases) {
  test(rule, () => {
    const pod = { status: { ...(there && { conditions: there }) } } as Pod;
    setCondition(pod, put, now);
    assert.deepEqual(pod.status.conditions, expected);
  });
}
