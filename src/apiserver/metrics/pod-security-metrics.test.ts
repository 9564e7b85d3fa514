import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionAttributes } from "#admission";
import { createMetrics } from "#base";
import { podSecurityMetrics } from "./pod-security-metrics.ts";

const attributes = {
  operation: "CREATE",
  resource: { group: "", version: "v1", resource: "pods" },
  subresource: "",
} as AdmissionAttributes;
const request = 'request_operation="create",resource="pod",subresource=""';

test("Pod Security evaluations are counted", () => {
  const metrics = createMetrics();
  const observer = podSecurityMetrics(metrics);
  observer.evaluated({ mode: "enforce", denied: true, level: "baseline", version: "latest" }, attributes);
  observer.exempt(attributes);
  observer.unreadable(attributes);
  const text = metrics.expose();
  for (const line of [
    `evaluations_total{decision="deny",mode="enforce",policy_level="baseline",policy_version="latest",${request}} 1`,
    `exemptions_total{${request}} 1`,
    `errors_total{fatal="false",${request}} 1`,
  ])
    assert.ok(text.includes(`pod_security_${line}\n`), line);
});

test("the common series are exported before the first pod", () => {
  const metrics = createMetrics();
  podSecurityMetrics(metrics);
  assert.match(
    metrics.expose(),
    /exemptions_total\{request_operation="update",resource="controller",subresource=""\} 0/,
  );
});
