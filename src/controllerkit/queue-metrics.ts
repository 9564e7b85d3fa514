// Metrics of work queues, under the names that dashboards know.
import type { Metrics } from "#base";

export interface OneQueueMetrics {
  added(): void;
  /** Called with how long the key waited, and how many still wait. */
  started(waitedSeconds: number, depth: number): void;
  finished(seconds: number): void;
  retried(): void;
}
export type QueueMetrics = (name: string) => OneQueueMetrics;

const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10];

export function queueMetrics(metrics: Metrics): QueueMetrics {
  const labels = ["name"];
  const depth = metrics.gauge({ name: "workqueue_depth", help: "Keys that wait now.", labels });
  const adds = metrics.counter({ name: "workqueue_adds_total", help: "Keys that were added.", labels });
  const retries = metrics.counter({
    name: "workqueue_retries_total",
    help: "Keys that were retried.",
    labels,
  });
  const waited = metrics.histogram({
    name: "workqueue_queue_duration_seconds",
    help: "How long a key waited before it was worked on.",
    labels,
    buckets,
  });
  const worked = metrics.histogram({
    name: "workqueue_work_duration_seconds",
    help: "How long working on a key took.",
    labels,
    buckets,
  });
  return (name) => ({
    added: () => {
      adds.with(name).add();
      depth.with(name).add();
    },
    started: (seconds, waiting) => {
      waited.with(name).observe(seconds);
      depth.with(name).set(waiting);
    },
    finished: (seconds) => worked.with(name).observe(seconds),
    retried: () => retries.with(name).add(),
  });
}
