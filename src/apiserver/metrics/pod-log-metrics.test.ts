import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { podLogMetrics } from "./pod-log-metrics.ts";

test("log requests are counted under the deprecated metric names, too", () => {
  const metrics = createMetrics();
  const observer = podLogMetrics(metrics);
  observer.requested(false);
  observer.requested(true);
  observer.untrusted();
  const text = metrics.expose();
  for (const line of [
    'insecure_backend_total{usage="enforce_tls"} 1',
    'insecure_backend_total{usage="skip_tls_allowed"} 1',
    "backend_tls_failure_total 1",
  ])
    for (const prefix of ["", "pods_logs_"])
      assert.ok(text.includes(`kube_apiserver_pod_logs_${prefix}${line}\n`), prefix + line);
});
