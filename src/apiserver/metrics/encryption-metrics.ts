// What is counted about the data keys that a key service of version 1 encrypts.
import type { Metrics } from "#base";
import type { DataKeyObserver } from "#store";

export function dataKeyMetrics(metrics: Metrics): DataKeyObserver {
  const stability = "ALPHA";
  const duration = metrics
    .histogram({
      name: "apiserver_storage_data_key_generation_duration_seconds",
      help: "Seconds that making a data key took.",
      stability,
      buckets: Array.from({ length: 14 }, (_, power) => Number((5e-6 * 2 ** power).toPrecision(12))),
    })
    .with();
  const failures = metrics
    .counter({
      name: "apiserver_storage_data_key_generation_failures_total",
      help: "Data keys that could not be made.",
      stability,
    })
    .with();
  const misses = metrics
    .counter({
      name: "apiserver_storage_envelope_transformation_cache_misses_total",
      help: "Values whose data key had to be decrypted by the key service.",
      stability,
    })
    .with();
  const fill = metrics
    .gauge({
      name: "apiserver_envelope_encryption_dek_cache_fill_percent",
      help: "How full the cache of decrypted data keys is, from 0 to 1.",
      stability,
    })
    .with();
  return {
    generated: (seconds, succeeded) => {
      if (succeeded) duration.observe(seconds);
      else failures.add();
    },
    missed: () => misses.add(),
    filled: (share) => fill.set(share),
  };
}
