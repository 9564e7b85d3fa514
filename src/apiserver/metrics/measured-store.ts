// Wraps a store and measures the latency of its operations, under the metric names that dashboards expect.
import type { Histogram, Metrics } from "#base";
import type { Store, Write } from "#store";

const buckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

/**
 * Returns a wrapper for stores. `prefix` is the common prefix of all keys; the path segment after it is the
 * type.
 */
export function storeMeasuring(prefix: string, metrics: Metrics): (store: Store) => Store {
  const duration = metrics.histogram({
    name: "etcd_request_duration_seconds",
    help: "Latency of store requests in seconds, by operation and object type.",
    stability: "ALPHA",
    labels: ["operation", "type"],
    buckets,
  });
  const skip = prefix.length + 1;
  const seriesOf = (operation: string): ((key: string) => Histogram) => {
    // Most calls concern the same type as the call before; comparing the prefix avoids creating a new string.
    let start = "\0";
    let last: Histogram;
    return (key) => {
      if (key.startsWith(start)) return last;
      const end = key.indexOf("/", skip);
      last = duration.with(operation, end < 0 ? key.slice(skip) : key.slice(skip, end));
      start = end < 0 ? "\0" : key.slice(0, end + 1);
      return last;
    };
  };
  const series = {
    get: seriesOf("get"),
    list: seriesOf("list"),
    create: seriesOf("create"),
    update: seriesOf("update"),
    delete: seriesOf("delete"),
  };
  const timed = <T>(operation: keyof typeof series, key: string, call: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const answer = call();
    const observe = (): void => series[operation](key).observe((performance.now() - began) / 1000);
    answer.then(observe, observe);
    return answer;
  };
  return (store) => ({
    read: (range, at) =>
      "key" in range
        ? timed("get", range.key, () => store.read(range, at))
        : timed("list", range.prefix, () => store.read(range, at)),
    write: (write) => timed(operationOf(write), write.key, () => store.write(write)),
    watch: (range, after, signal) => store.watch(range, after, signal),
    ...(store.isStale && { isStale: (key: string) => store.isStale!(key) }),
    ...(store.derived && { derived: store.derived }),
    ...(store.local && { local: (prefix: string) => store.local!(prefix) }),
    progress: () => store.progress(),
    compact: (through) => store.compact(through),
    status: () => store.status(),
    close: () => store.close(),
  });
}

const operationOf = ({ value, expect }: Write): "create" | "update" | "delete" =>
  value === null ? "delete" : expect === "absent" ? "create" : "update";
