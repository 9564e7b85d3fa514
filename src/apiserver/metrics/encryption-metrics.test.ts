import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics, virtualClock } from "#base";
import { dataKeyMetrics, encryptionMetrics } from "./encryption-metrics.ts";

test("data keys are counted, starting with zero", () => {
  const metrics = createMetrics();
  let now = 1000;
  const observer = dataKeyMetrics(metrics, { ...virtualClock(), now: () => now });
  assert.match(metrics.expose(), /^apiserver_storage_data_key_generation_failures_total 0$/m);
  observer.generated(0.000_01, true);
  observer.generated(1, false);
  observer.missed();
  observer.filled(0.25);
  observer.arrived("to_storage");
  now += 90_000;
  observer.arrived("to_storage");
  const text = metrics.expose();
  for (const line of [
    "apiserver_storage_data_key_generation_duration_seconds_count 1",
    "apiserver_storage_data_key_generation_failures_total 1",
    "apiserver_storage_envelope_transformation_cache_misses_total 1",
    "apiserver_envelope_encryption_dek_cache_fill_percent 0.25",
    'apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds_bucket{transformation_type="to_storage",le="60"} 1',
    'apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds_sum{transformation_type="to_storage"} 90',
  ])
    assert.ok(text.includes(`${line}\n`), line);
});

test("values, key service calls and key IDs are counted", () => {
  const metrics = createMetrics();
  const observer = encryptionMetrics(metrics, { clock: virtualClock(5000), marker: "m:enc:" });
  observer.transformation("to_storage", "kms:v2:a:").succeeded(0.1);
  observer.transformation("from_storage", "kms:v2:a:").failed("Unknown");
  observer.transformation("from_storage", "").succeeded(0.1);
  observer.called("a", "/v2.KeyManagementService/Status", 0.1, "Unavailable");
  observer.keyUsed("from_storage", "a", "1");
  observer.keyReported("a", "1");
  observer.keyReported("a", "", "empty");
  const text = metrics.expose();
  const hash = "sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b";
  const lines = [
    'storage_transformation_operations_total{status="OK",transformation_type="to_storage",transformer_prefix="m:enc:kms:v2:a:"} 1',
    'storage_transformation_operations_total{status="Unknown",transformation_type="from_storage",transformer_prefix="m:enc:kms:v2:a:"} 1',
    'storage_transformation_operations_total{status="OK",transformation_type="from_storage",transformer_prefix="identity"} 1',
    'storage_transformation_duration_seconds_count{transformation_type="to_storage",transformer_prefix="m:enc:kms:v2:a:"} 1',
    'envelope_encryption_kms_operations_latency_seconds_count{grpc_status_code="Unavailable",method_name="/v2.KeyManagementService/Status",provider_name="a"} 1',
    `envelope_encryption_key_id_hash_total{key_id_hash="${hash}",provider_name="a",transformation_type="from_storage"} 1`,
    `envelope_encryption_key_id_hash_last_timestamp_seconds{key_id_hash="${hash}",provider_name="a",transformation_type="from_storage"} 5`,
    `envelope_encryption_key_id_hash_status_last_timestamp_seconds{key_id_hash="${hash}",provider_name="a"} 5`,
    'envelope_encryption_invalid_key_id_from_status_total{error="empty",provider_name="a"} 1',
  ];
  const sorted = (line: string): string =>
    line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(",").toSorted().join(",")}}`);
  const shown = new Set(text.split("\n").map(sorted));
  for (const line of lines) assert.ok(shown.has(sorted(`apiserver_${line}`)), `${line}\n${text}`);
  assert.doesNotMatch(text, /duration_seconds_count\{[^}]*from_storage[^}]*kms/);
});

test("only the most recently used keys are exported", () => {
  const metrics = createMetrics();
  const observer = encryptionMetrics(metrics, { clock: virtualClock(), marker: "m:enc:" });
  for (let at = 0; at < 300; at++)
    for (const keyId of ["kept", `key-${at}`]) {
      observer.keyUsed("to_storage", "a", keyId);
      observer.keyReported("a", keyId);
    }
  const shown = metrics.expose().split("\n");
  for (const name of ["total", "last_timestamp_seconds", "status_last_timestamp_seconds"])
    assert.equal(
      shown.filter((line) => line.startsWith(`apiserver_envelope_encryption_key_id_hash_${name}{`)).length,
      100,
      name,
    );
  assert.ok(shown.some((line) => /key_id_hash_total\{.*\} 300$/.test(line)));
});
