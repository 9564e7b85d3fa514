import assert from "node:assert/strict";
import { test } from "node:test";
import { referenceTo } from "./pod.ts";
import { samplePod } from "./pod.fixture.ts";

const pod = samplePod(
  {
    containers: [{ name: "web" }],
    initContainers: [{ name: "first" }],
    ephemeralContainers: [{ name: "look" }],
  },
  { resourceVersion: "7" },
);
const whole = { kind: "Pod", apiVersion: "v1", namespace: "n", name: "a", uid: "u", resourceVersion: "7" };

const references: [rule: string, container: string | undefined, fieldPath: string | undefined][] = [
  ["an event about a pod points at no part of it", undefined, undefined],
  ["an event about a container points at it", "web", "spec.containers{web}"],
  ["an event about an init container points at it", "first", "spec.initContainers{first}"],
  ["an event about an ephemeral container points at it", "look", "spec.ephemeralContainers{look}"],
  ["an event about a container that the pod does not name points at the pod", "other", undefined],
];
for (const [rule, container, fieldPath] of references)
  test(rule, () =>
    assert.deepEqual(referenceTo(pod, container), { ...whole, ...(fieldPath && { fieldPath }) }),
  );
