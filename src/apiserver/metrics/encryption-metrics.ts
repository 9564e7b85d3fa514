// Metrics of values encrypted in the store, and of key services and their keys.
import { createHash } from "node:crypto";
import {
  type Clock,
  type Counter,
  type Family,
  type Histogram,
  type Metrics,
  exponentialBuckets,
} from "#base";
import type { DataKeyObserver, KeyServiceObserver, TransformationObserver } from "#store";

const stability = "ALPHA";

/** `marker` is the prefix of all encrypted values; labels include it. */
export function encryptionMetrics(
  metrics: Metrics,
  { clock, marker }: { readonly clock: Clock; readonly marker: string },
): TransformationObserver & KeyServiceObserver {
  const operations = metrics.counter({
    name: "apiserver_storage_transformation_operations_total",
    help: "Number of value transformations (encryption and decryption), by transformer and status.",
    stability,
    labels: ["status", "transformation_type", "transformer_prefix"],
  });
  const durations = metrics.histogram({
    name: "apiserver_storage_transformation_duration_seconds",
    help: "Latency of value transformations (encryption and decryption) in seconds.",
    stability,
    labels: ["transformation_type", "transformer_prefix"],
    buckets: exponentialBuckets(5e-6, 2, 25),
  });
  const calls = metrics.histogram({
    name: "apiserver_envelope_encryption_kms_operations_latency_seconds",
    help: "Latency of KMS calls in seconds, by provider, method and gRPC status code.",
    stability,
    labels: ["grpc_status_code", "method_name", "provider_name"],
    buckets: exponentialBuckets(1e-4, 2, 20),
  });
  const keyLabels = ["key_id_hash", "provider_name", "transformation_type"];
  const uses = metrics.counter({
    name: "apiserver_envelope_encryption_key_id_hash_total",
    help: "Number of value transformations with a key, by hash of the key ID, provider and type.",
    stability,
    labels: keyLabels,
  });
  const lastUses = metrics.gauge({
    name: "apiserver_envelope_encryption_key_id_hash_last_timestamp_seconds",
    help: "Time of the last use of a key in seconds since the Unix epoch, by hash of the key ID.",
    stability,
    labels: keyLabels,
  });
  const statusTimes = metrics.gauge({
    name: "apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds",
    help: "Time a key ID was last reported by a KMS status call, in seconds since the Unix epoch.",
    stability,
    labels: ["key_id_hash", "provider_name"],
  });
  const refused = metrics.counter({
    name: "apiserver_envelope_encryption_invalid_key_id_from_status_total",
    help: "Number of invalid key IDs reported by KMS status calls, by provider and error.",
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
      help: "Latency of data encryption key (DEK) generation in seconds.",
      stability,
      buckets: exponentialBuckets(5e-6, 2, 14),
    })
    .with();
  const failures = metrics
    .counter({
      name: "apiserver_storage_data_key_generation_failures_total",
      help: "Number of failed data encryption key (DEK) generations.",
      stability,
    })
    .with();
  const misses = metrics
    .counter({
      name: "apiserver_storage_envelope_transformation_cache_misses_total",
      help: "Number of DEK cache misses, for which the KMS had to decrypt the data encryption key.",
      stability,
    })
    .with();
  const fill = metrics
    .gauge({
      name: "apiserver_envelope_encryption_dek_cache_fill_percent",
      help: "Fraction of the DEK cache that is in use, from 0 to 1.",
      stability,
    })
    .with();
  const arrivals = metrics.histogram({
    name: "apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds",
    help: "Time in seconds between successive value transformations, by transformation type.",
    stability,
    labels: ["transformation_type"],
    buckets: exponentialBuckets(60, 2, 10),
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
