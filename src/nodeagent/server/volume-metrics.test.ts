import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { dialects } from "#dialect";
import { createVolumeMetrics } from "./volume-metrics.ts";

test("volume operations are recorded by operation, result and duration", () => {
  const metrics = createMetrics();
  const recorder = createVolumeMetrics(metrics, dialects.orch);
  recorder.tried("volume_mount", "x/empty-dir", 200, true);
  recorder.tried("volume_mount", "x/secret", 10, false);
  recorder.inPlace("volume_mount", "x/secret", 3000);
  recorder.measured("du", 40);
  recorder.reconstructed(true);
  recorder.reconstructed(false);
  recorder.forceCleaned(false);
  recorder.forceCleaned(true);
  const text = metrics.expose();
  const lines = [
    'storage_operation_duration_seconds_sum{migrated="false",operation_name="volume_mount",status="success",volume_plugin="x/empty-dir"} 0.2',
    'storage_operation_duration_seconds_bucket{migrated="false",operation_name="volume_mount",status="fail-unknown",volume_plugin="x/secret",le="0.1"} 1',
    'volume_operation_total_seconds_sum{operation_name="overall_volume_mount",plugin_name="x/secret"} 3',
    "reconstruct_volume_operations_total 2",
    "reconstruct_volume_operations_errors_total 1",
    "force_cleaned_failed_volume_operations_total 2",
    "force_cleaned_failed_volume_operation_errors_total 1",
    'nodeagent_volume_metric_collection_duration_seconds_sum{metric_source="du"} 0.04',
  ];
  for (const line of lines) assert.ok(text.includes(`${line}\n`), `${line} is missing in\n${text}`);
});
