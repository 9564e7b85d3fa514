import assert from "node:assert/strict";
import { test } from "node:test";
import { samplePod } from "../pod.fixture.ts";
import { uidOf } from "../pod.ts";
import { probeMetrics } from "./probe-metrics.ts";

test("the probes of a pod are counted until it is removed", () => {
  const { metrics, record, forget } = probeMetrics();
  const [removed, other] = [samplePod({}, { uid: "u1" }), samplePod({}, { uid: "u2" })];
  for (const pod of [removed, other])
    for (const result of ["successful", "failed", "failed"] as const)
      record(pod, "c", "liveness", { result, seconds: 0.25 });
  const counts = (): readonly string[] =>
    metrics
      .expose()
      .split("\n")
      .filter((line) => line.startsWith("prober_probe_total"))
      .map((line) => line.replace(/.*pod_uid="(\w+)".*result="(\w+)"} /, "$1 $2 "));
  assert.deepEqual(counts(), ["u1 failed 2", "u1 successful 1", "u2 failed 2", "u2 successful 1"]);
  const observations = (): number =>
    metrics.expose().split("prober_probe_duration_seconds_count{").length - 1;
  assert.match(metrics.expose(), /prober_probe_duration_seconds_sum\{[^}]*probe_type="Liveness"\} 0\.5\n/);
  assert.equal(observations(), 1);
  forget(uidOf(removed));
  assert.deepEqual(counts(), ["u2 failed 2", "u2 successful 1"]);
});
