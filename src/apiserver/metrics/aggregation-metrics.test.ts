import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { aggregationMetrics } from "./aggregation-metrics.ts";

test("unavailable API services are exported, and removed after their deletion", () => {
  const metrics = createMetrics();
  let services = [
    { name: "v1.a", available: true },
    { name: "v1.b", available: false },
  ];
  aggregationMetrics(metrics).show(() => services);
  assert.match(metrics.expose(), /\{name="v1.a"\} 0\n.*\{name="v1.b"\} 1\n/);
  services = [];
  assert.doesNotMatch(metrics.expose(), /aggregator_unavailable_apiservice\{/);
});

test("changes of API documents and losses of API services are counted", () => {
  const metrics = createMetrics();
  const observer = aggregationMetrics(metrics);
  observer.described(0.25);
  observer.documentsChanged("v1.example.test", "update", 0.5);
  observer.discovered();
  observer.lost("v1.example.test", "ServiceNotFound");
  const text = metrics.expose();
  for (const line of [
    'openapi_v2_regeneration_count{apiservice="*",reason="startup"} 1',
    'openapi_v2_regeneration_count{apiservice="v1.example.test",reason="update"} 1',
    'openapi_v2_regeneration_duration{reason="startup"} 0.25',
    'openapi_v2_regeneration_duration{reason="update"} 0.5',
    "discovery_aggregation_count_total 1",
    'unavailable_apiservice_total{name="v1.example.test",reason="ServiceNotFound"} 1',
  ])
    assert.ok(text.includes(`aggregator_${line}\n`), line);
});
