import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { dataKeyMetrics } from "./encryption-metrics.ts";

test("data keys are counted, and shown as zero while there are none", () => {
  const metrics = createMetrics();
  const observer = dataKeyMetrics(metrics);
  assert.match(metrics.expose(), /^apiserver_storage_data_key_generation_failures_total 0$/m);
  observer.generated(0.000_01, true);
  observer.generated(1, false);
  observer.missed();
  observer.filled(0.25);
  const text = metrics.expose();
  for (const line of [
    "apiserver_storage_data_key_generation_duration_seconds_count 1",
    "apiserver_storage_data_key_generation_failures_total 1",
    "apiserver_storage_envelope_transformation_cache_misses_total 1",
    "apiserver_envelope_encryption_dek_cache_fill_percent 0.25",
  ])
    assert.ok(text.includes(`${line}\n`), line);
});
