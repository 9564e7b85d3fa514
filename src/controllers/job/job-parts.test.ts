import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job, Pod } from "#api";
import { nextBackoff, noFailures, remainingMilliseconds } from "./backoff.ts";
import { judgeFailure } from "./failure-policy.ts";
import { countReleased } from "./job-status.ts";

type Policy = NonNullable<Job["spec"]["podFailurePolicy"]>;
const failed = (exitCode: number, condition?: string): Pod =>
  ({
    metadata: { name: "p", namespace: "n" },
    status: {
      phase: "Failed",
      containerStatuses: [
        { name: "c", state: { terminated: { exitCode, finishedAt: "2030-01-01T00:00:00Z" } } },
      ],
      ...(condition && { conditions: [{ type: condition, status: "True" }] }),
    },
  }) as unknown as Pod;
const policy = (rule: object): Policy => ({ rules: [rule] }) as unknown as Policy;

const verdicts: [name: string, given: Policy | undefined, pod: Pod, counts: boolean, fails: boolean][] = [
  ["without a policy every failure counts", undefined, failed(1), true, false],
  [
    "an ignored exit code does not count",
    policy({ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }),
    failed(1),
    false,
    false,
  ],
  [
    "another exit code counts",
    policy({ action: "Ignore", onExitCodes: { operator: "In", values: [2] } }),
    failed(1),
    true,
    false,
  ],
  [
    "a fatal exit code fails the job",
    policy({ action: "FailJob", onExitCodes: { operator: "NotIn", values: [2] } }),
    failed(1),
    true,
    true,
  ],
  [
    "a disruption can be ignored",
    policy({ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }),
    failed(1, "DisruptionTarget"),
    false,
    false,
  ],
];
for (const [name, given, pod, counts, fails] of verdicts)
  test(name, () => {
    const verdict = judgeFailure(given, pod);
    assert.deepEqual([verdict.counts, verdict.failsJob !== undefined], [counts, fails]);
  });

test("each failure doubles the backoff, and a success resets it", () => {
  const at = Date.parse("2030-01-01T00:00:00Z");
  const once = nextBackoff(noFailures, [], [failed(1)], at);
  assert.equal(remainingMilliseconds(once, at), 10_000);
  const twice = nextBackoff(once, [], [failed(1)], at);
  assert.equal(remainingMilliseconds(twice, at), 20_000);
  assert.equal(remainingMilliseconds(twice, at + 20_000), 0);
  assert.equal(nextBackoff(twice, [failed(0) as never], [], at).failures, 0);
});

test("pods that have lost their finalizer are added to the counts once", () => {
  const status = { uncountedTerminatedPods: { succeeded: ["a", "b"], failed: ["c"] }, succeeded: 1 } as never;
  const after = countReleased(status, new Set(["b"]));
  assert.deepEqual(after, { uncountedTerminatedPods: { succeeded: ["b"] }, succeeded: 2, failed: 1 });
  assert.equal(countReleased(after, new Set(["b"])), after);
});
