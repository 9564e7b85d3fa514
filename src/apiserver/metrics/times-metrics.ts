// Measures the comparison that detects updates which change only timestamps of managed fields, by outcome.
import type { Metrics } from "#base";
import type { RegistrySettings } from "#registry";

export function timesMetrics(metrics: Metrics): NonNullable<RegistrySettings["timesCompared"]> {
  const duration = metrics.histogram({
    name: "apiserver_request_timestamp_comparison_time",
    help: "Time in seconds to compare an updated object with the stored one except for timestamps.",
    stability: "ALPHA",
    labels: ["code_path"],
    buckets: [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5],
  });
  const bound = {
    unequal_objects_fast: duration.with("unequal_objects_fast"),
    unequal_objects_slow: duration.with("unequal_objects_slow"),
    equal_objects: duration.with("equal_objects"),
  };
  return (outcome, seconds) => bound[outcome].observe(seconds);
}
