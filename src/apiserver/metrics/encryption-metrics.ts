// Metrics of values encrypted in the store, and of key services and their keys.
import { createHash } from "node:crypto";
import type { Clock, Counter, Family, Histogram, Metrics } from "#base";
import type { DataKeyObserver, KeyServiceObserver, TransformationObserver } from "#store";

const stability = "ALPHA";
const exponentialBuckets = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, power) => Number((first * 2 ** power).toPrecision(12)));

/** `marker` is the prefix of all encrypted values; labels include it. */
export function encryptionMetrics(
  metrics: Metrics,
  { clock, marker }: { readonly clock: Clock; readonly marker: string },
): TransformationObserver & KeyServiceObserver {
  const operations = metrics.counter({
    name: "apiserver_storage_transformation_operations_total",
    help: "Values that were encrypted or decrypted.",
    stability,
    labels: ["status", "transformation_type", "transformer_prefix"],
  });
  const durations = metrics.histogram({
    name: "apiserver_storage_transformation_duration_seconds",
    help: "Seconds that encrypting or decrypting a value took.",
    stability,
    labels: ["transformation_type", "transformer_prefix"],
    buckets: exponentialBuckets(5e-6, 25),
  });
  const calls = metrics.histogram({
    name: "apiserver_envelope_encryption_kms_operations_latency_seconds",
    help: "Seconds that calls of key services took.",
    stability,
    labels: ["grpc_status_code", "method_name", "provider_name"],
    buckets: exponentialBuckets(1e-4, 20),
  });
  const keyLabels = ["key_id_hash", "provider_name", "transformation_type"];
  const uses = metrics.counter({
    name: "apiserver_envelope_encryption_key_id_hash_total",
    help: "Values that were encrypted or decrypted with a key.",
    stability,
    labels: keyLabels,
  });
  const lastUses = metrics.gauge({
    name: "apiserver_envelope_encryption_key_id_hash_last_timestamp_seconds",
    help: "When a key was last used.",
    stability,
    labels: keyLabels,
  });
  const statusTimes = metrics.gauge({
    name: "apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds",
    help: "When a key service last said that it uses a key.",
    stability,
    labels: ["key_id_hash", "provider_name"],
  });
  const refused = metrics.counter({
    name: "apiserver_envelope_encryption_invalid_key_id_from_status_total",
    help: "Ids of keys that a key service told and that cannot be.",
    stability,
    labels: ["error", "provider_name"],
  });
  const usedKeys = mostRecentlyUsed([uses, lastUses]);
  const statusKeys = mostRecentlyUsed([statusTimes]);
  const now = (): number => clock.now() / 1000;
  let [hashed, hash] = ["", ""];
  const hashOf = (keyId: string): string => {
    if (keyId !== hashed)
      [hashed, hash] = [keyId, `sha256:${createHash("sha256").update(keyId).digest("hex")}`];
    return hash;
  };
  return {
    transformation: (kind, id) => {
      const prefix = id === "" ? (kind === "from_storage" ? "identity" : "") : `${marker}${id}`;
      // Looked up once, and only when the first value is observed, so that unused series are not exported.
      let succeeded: Counter | undefined;
      let duration: Histogram | undefined;
      return {
        succeeded: (seconds) => {
          (succeeded ??= operations.with("OK", kind, prefix)).add();
          (duration ??= durations.with(kind, prefix)).observe(seconds);
        },
        failed: (code) => operations.with(code, kind, prefix).add(),
      };
    },
    called: (provider, method, seconds, code) => calls.with(code, method, provider).observe(seconds),
    keyUsed: (kind, provider, keyId) => {
      const labels = usedKeys.of(hashOf(keyId), provider, kind);
      uses.with(...labels).add();
      lastUses.with(...labels).set(now());
    },
    keyReported: (provider, keyId, problem) => {
      if (problem === undefined) statusTimes.with(...statusKeys.of(hashOf(keyId), provider)).set(now());
      else refused.with(problem, provider).add();
    },
  };
}

const maxKeys = 100;

/**
 * Bounds the number of exported keys, since a key service may rotate keys indefinitely: the least recently
 * used series are removed.
 */
function mostRecentlyUsed(families: readonly Family<unknown>[]): {
  of(...labels: string[]): readonly string[];
} {
  const kept = new Map<string, readonly string[]>();
  return {
    of: (...labels) => {
      const key = labels.join("\n");
      if (!kept.delete(key) && kept.size >= maxKeys) {
        const [oldest, evicted] = kept.entries().next().value!;
        kept.delete(oldest);
        for (const family of families) family.remove(...evicted);
      }
      kept.set(key, labels);
      return labels;
    },
  };
}

/** Metrics of data encryption keys that a KMS v1 key service encrypts. */
export function dataKeyMetrics(metrics: Metrics, clock: Clock): DataKeyObserver {
  const duration = metrics
    .histogram({
      name: "apiserver_storage_data_key_generation_duration_seconds",
      help: "Seconds that making a data key took.",
      stability,
      buckets: exponentialBuckets(5e-6, 14),
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
  const arrivals = metrics.histogram({
    name: "apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds",
    help: "Seconds between a value that was encrypted or decrypted and the one before.",
    stability,
    labels: ["transformation_type"],
    buckets: exponentialBuckets(60, 10),
  });
  const lastArrivals = new Map<string, number>();
  return {
    arrived: (kind) => {
      const now = clock.now();
      arrivals.with(kind).observe((now - (lastArrivals.get(kind) ?? now)) / 1000);
      lastArrivals.set(kind, now);
    },
    generated: (seconds, succeeded) => {
      if (succeeded) duration.observe(seconds);
      else failures.add();
    },
    missed: () => misses.add(),
    filled: (share) => fill.set(share),
  };
}
