import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { resourcesOf } from "./requests.ts";

const resized = (allocated: string, resize: string): Pod =>
  ({
    spec: { containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] },
    status: { resize, containerStatuses: [{ name: "c", allocatedResources: { cpu: allocated } }] },
  }) as unknown as Pod;

const cases: [name: string, pod: Pod, milliCpu: number][] = [
  ["a shrinking pod counts with its current allocation", resized("2", "InProgress"), 2000],
  ["a growing pod counts with its requests", resized("500m", "Deferred"), 1000],
  ["a pod with an infeasible resize counts with its current allocation", resized("500m", "Infeasible"), 500],
];
for (const [name, pod, milliCpu] of cases)
  test(name, () => assert.equal(resourcesOf(pod).requests["cpu"], milliCpu));
