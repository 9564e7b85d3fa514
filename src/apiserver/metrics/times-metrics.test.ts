import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { timesMetrics } from "./times-metrics.ts";

test("comparisons of updates are timed by outcome", () => {
  const metrics = createMetrics();
  const compared = timesMetrics(metrics);
  compared("unequal_objects_fast", 0.0002);
  compared("equal_objects", 0.002);
  const text = metrics.expose();
  assert.match(text, /timestamp_comparison_time_count\{code_path="unequal_objects_fast"\} 1/);
  assert.match(text, /timestamp_comparison_time_bucket\{code_path="equal_objects",le="0.003"\} 1/);
  assert.match(text, /timestamp_comparison_time_count\{code_path="unequal_objects_slow"\} 0/);
});
