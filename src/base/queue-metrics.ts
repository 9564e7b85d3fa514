// Metrics of work queues, under their upstream names.
import type { Metrics } from "./metrics.ts";

export interface OneQueueMetrics {
  added(): void;
  /**
   * Records that processing of a key starts, how long it was queued and how many keys remain. The returned
   * function records its end.
   */
  started(waitedSeconds: number, depth: number): () => void;
  retried(): void;
}
export type QueueMetrics = (name: string) => OneQueueMetrics;

const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10];

/** `now` returns milliseconds. */
export function queueMetrics(metrics: Metrics, now: () => number): QueueMetrics {
  const labels = ["name"];
  const stability = "ALPHA";
  const counter = (name: string, help: string) => metrics.counter({ name, help, labels, stability });
  const gauge = (name: string, help: string) => metrics.gauge({ name, help, labels, stability });
  const histogram = (name: string, help: string) =>
    metrics.histogram({ name, help, labels, stability, buckets });
  const depth = gauge("workqueue_depth", "Current number of items waiting in the work queue.");
  const adds = counter("workqueue_adds_total", "Total number of items added to the work queue.");
  const retries = counter("workqueue_retries_total", "Total number of items retried after a failure.");
  const waited = histogram(
    "workqueue_queue_duration_seconds",
    "Time in seconds that an item stays in the work queue before it is processed.",
  );
  const worked = histogram(
    "workqueue_work_duration_seconds",
    "Time in seconds that processing an item takes.",
  );
  const unfinished = gauge(
    "workqueue_unfinished_work_seconds",
    "Sum of the elapsed seconds of all items being processed.",
  );
  const longest = gauge(
    "workqueue_longest_running_processor_seconds",
    "Elapsed seconds of the item that has been processed for the longest time.",
  );
  /** Start times of the keys being processed, by queue. */
  const running = new Map<string, Set<{ readonly since: number }>>();
  metrics.beforeScrape(() => {
    for (const [name, begun] of running) {
      const seconds = [...begun].map(({ since }) => (now() - since) / 1000);
      unfinished.with(name).set(seconds.reduce((sum, each) => sum + each, 0));
      longest.with(name).set(Math.max(0, ...seconds));
    }
  });
  return (name) => {
    const own = {
      depth: depth.with(name),
      adds: adds.with(name),
      retries: retries.with(name),
      waited: waited.with(name),
      worked: worked.with(name),
    };
    const active = running.getOrInsertComputed(name, () => new Set());
    return {
      added: () => {
        own.adds.add();
        own.depth.add();
      },
      started: (seconds, waiting) => {
        own.waited.observe(seconds);
        own.depth.set(waiting);
        const entry = { since: now() };
        active.add(entry);
        return () => {
          active.delete(entry);
          own.worked.observe((now() - entry.since) / 1000);
        };
      },
      retried: () => own.retries.add(),
    };
  };
}
