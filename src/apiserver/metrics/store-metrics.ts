// Object counts per resource and the size of the store, sampled at intervals.
import type { Clock, Metrics } from "#base";

export interface StoreMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Returns the resources by name with their numbers of objects. */
  readonly counts: () => AsyncIterable<readonly [resource: string, count: number]>;
  readonly size: () => Promise<number>;
  /** The store's address, or a substitute for stores without one. */
  readonly endpoint: string;
  /** 0 disables the count. */
  readonly countEveryMilliseconds: number;
  readonly sizeEveryMilliseconds: number;
  readonly signal: AbortSignal;
}

export function storeMetrics(options: StoreMetricsOptions): void {
  const { metrics, countEveryMilliseconds, sizeEveryMilliseconds } = options;
  const objects = metrics.gauge({
    name: "apiserver_storage_objects",
    help: "Number of stored objects at the time of the last check, by resource.",
    stability: "STABLE",
    labels: ["resource"],
  });
  const size = (name: string) =>
    metrics.gauge({
      name,
      help: "Size of the storage database in bytes at the time of the last check.",
      stability: "ALPHA",
      labels: ["endpoint"],
    });
  const total = size("apiserver_storage_db_total_size_in_bytes");
  const bytes = size("apiserver_storage_size_bytes");
  runPeriodically(options, countEveryMilliseconds, async () => {
    for await (const [resource, count] of options.counts()) objects.with(resource).set(count);
  });
  runPeriodically(options, sizeEveryMilliseconds, async () => {
    const used = await options.size();
    bytes.with(options.endpoint).set(used);
    total.with(options.endpoint).set(used);
  });
}

/** Records how many writes shared an etcd lease. */
export function leaseMetrics(metrics: Metrics): (keys: number) => void {
  const objects = metrics
    .histogram({
      name: "etcd_lease_object_counts",
      help: "Number of objects attached to an etcd lease when it was replaced by the next one.",
      stability: "ALPHA",
      buckets: [10, 50, 100, 500, 1000, 2500, 5000],
    })
    .with();
  return (keys) => objects.observe(keys);
}

/** Runs a sample at once and then at the interval. If a sample fails the last value is kept. */
function runPeriodically(
  { clock, signal }: StoreMetricsOptions,
  milliseconds: number,
  sample: () => Promise<void>,
): void {
  if (milliseconds <= 0) return;
  let cancel = (): void => undefined;
  const run = (): void => {
    void sample()
      .catch(() => undefined)
      .then(() => {
        if (!signal.aborted) cancel = clock.after(milliseconds, run);
      });
  };
  signal.addEventListener("abort", () => cancel(), { once: true });
  run();
}
