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
  ["an event about a pod has no field path", undefined, undefined],
  ["an event about a container has its field path", "web", "spec.containers{web}"],
  ["an event about an init container has its field path", "first", "spec.initContainers{first}"],
  ["an event about an ephemeral container has its field path", "look", "spec.ephemeralContainers{look}"],
  ["an event about an unknown container has no field path", "other", undefined],
];
for (const [rule, container, fieldPath] of references)
  test(rule, () =>
    assert.deepEqual(referenceTo(pod, container), { ...whole, ...(fieldPath && { fieldPath }) }),
  );
