import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type SeenDeployment,
  type SeenReplicaSet,
  maxSurge,
  maxUnavailable,
  newSetSize,
  proportionalSizes,
  scaledValue,
  shrinkOldSets,
} from "./rollout.ts";

const deployment = (
  replicas: number,
  surge: number | string,
  unavailable: number | string,
  type = "RollingUpdate",
) =>
  ({
    metadata: { name: "d" },
    spec: { replicas, strategy: { type, rollingUpdate: { maxSurge: surge, maxUnavailable: unavailable } } },
    status: { replicas },
  }) as unknown as SeenDeployment;
const set = (name: string, replicas: number, availableReplicas = replicas) =>
  ({
    metadata: { name, creationTimestamp: `2030-01-01T00:00:0${name.charCodeAt(0) % 10}Z` },
    spec: { replicas },
    status: { replicas, availableReplicas },
  }) as unknown as SeenReplicaSet;

const shares: [value: number | string, up: boolean, expected: number][] = [
  [2, true, 2],
  ["25%", true, 3],
  ["25%", false, 2],
  ["0%", true, 0],
];
for (const [value, up, expected] of shares)
  test(`${value} of ten rounded ${up ? "up" : "down"} is ${expected}`, () =>
    assert.equal(scaledValue(value, 10, up), expected));

test("surge is rounded up, unavailability down, and if both are zero one pod may be unavailable", () => {
  assert.deepEqual(
    [maxSurge(deployment(4, "25%", "25%")), maxUnavailable(deployment(4, "25%", "25%"))],
    [1, 1],
  );
  assert.deepEqual([maxSurge(deployment(3, 0, "10%")), maxUnavailable(deployment(3, 0, "10%"))], [0, 1]);
  assert.equal(maxSurge(deployment(4, "50%", 0, "Recreate")), 0);
});

const growth: [
  name: string,
  given: SeenDeployment,
  all: SeenReplicaSet[],
  current: number,
  expected: number,
][] = [
  ["the new set is scaled up as far as surge allows", deployment(4, 1, 0), [set("a", 4)], 0, 1],
  ["the new set never exceeds the wanted size", deployment(4, 10, 0), [set("a", 1)], 0, 4],
  ["a full deployment leaves the new set as it is", deployment(4, 0, 1), [set("a", 4)], 0, 0],
  ["recreate scales to the full size at once", deployment(4, 0, 0, "Recreate"), [], 0, 4],
];
for (const [name, given, all, current, expected] of growth)
  test(name, () => assert.equal(newSetSize(given, all, current), expected));

const shrinking: [
  name: string,
  given: SeenDeployment,
  old: SeenReplicaSet[],
  next: SeenReplicaSet,
  expected: Record<string, number>,
][] = [
  ["old sets shrink as new pods become available", deployment(4, 1, 0), [set("a", 4)], set("b", 1), { a: 3 }],
  [
    "old sets do not shrink while the new pods are unavailable",
    deployment(4, 1, 0),
    [set("a", 4)],
    set("b", 1, 0),
    {},
  ],
  ["unavailable old pods are removed first", deployment(4, 0, 1), [set("a", 4, 2)], set("b", 0), { a: 3 }],
];
for (const [name, given, old, next, expected] of shrinking)
  test(name, () => {
    const sizes = shrinkOldSets(given, old, next);
    assert.deepEqual(
      Object.fromEntries([...sizes].map(([each, size]) => [each.metadata.name, size])),
      expected,
    );
  });

test("a size change is distributed, with the remainder given to the largest set", () => {
  const sizes = proportionalSizes(deployment(10, 2, 0), [set("a", 3), set("b", 3)], () => 6);
  assert.equal(
    [...sizes.values()].reduce((a, b) => a + b, 0),
    12,
  );
});
