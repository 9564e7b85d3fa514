import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { useOf } from "./requests.ts";

const resized = (allocated: string, resize: string): Pod =>
  ({
    spec: { containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] },
    status: { resize, containerStatuses: [{ name: "c", allocatedResources: { cpu: allocated } }] },
  }) as unknown as Pod;

const cases: [name: string, pod: Pod, milliCpu: number][] = [
  ["a pod that shrinks counts for what it still has", resized("2", "InProgress"), 2000],
  ["a pod that grows counts for what it asks", resized("500m", "Deferred"), 1000],
  ["a pod that can never grow counts for what it has", resized("500m", "Infeasible"), 500],
];
for (const [name, pod, milliCpu] of cases)
  test(name, () => assert.equal(useOf(pod).requests["cpu"], milliCpu));
