// What the server's own recurring work does, under the names of work queues that dashboards know.
import type { Metrics } from "#base";

/** Runs one piece of work of the given name. */
export type MeasuredWork = <T>(name: string, run: () => Promise<T>) => Promise<T>;

const powers = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10];

export function workMetrics(metrics: Metrics): MeasuredWork {
  const labels = ["name"];
  const stability = "ALPHA";
  const counter = (name: string, help: string) => metrics.counter({ name, help, labels, stability });
  const gauge = (name: string, help: string) => metrics.gauge({ name, help, labels, stability });
  const histogram = (name: string, help: string) =>
    metrics.histogram({ name, help, labels, stability, buckets: powers });
  const adds = counter("workqueue_adds_total", "Pieces of work that came up.");
  const retries = counter("workqueue_retries_total", "Pieces of work that failed and are tried again.");
  const depth = gauge("workqueue_depth", "Pieces of work that wait; each begins at once.");
  const waited = histogram("workqueue_queue_duration_seconds", "Seconds that work waited.");
  const worked = histogram("workqueue_work_duration_seconds", "Seconds that work took.");
  const unfinished = gauge(
    "workqueue_unfinished_work_seconds",
    "Seconds that unfinished work has taken so far.",
  );
  const longest = gauge(
    "workqueue_longest_running_processor_seconds",
    "Seconds of the longest work under way.",
  );
  const running = new Map<string, Set<number>>();
  metrics.beforeScrape(() => {
    const now = performance.now();
    for (const [name, begun] of running) {
      const seconds = [...begun].map((at) => (now - at) / 1000);
      unfinished.with(name).set(seconds.reduce((sum, each) => sum + each, 0));
      longest.with(name).set(Math.max(0, ...seconds));
      depth.with(name).set(0);
    }
  });
  return async (name, run) => {
    const began = performance.now();
    const begun = running.getOrInsertComputed(name, () => {
      retries.with(name);
      return new Set();
    });
    begun.add(began);
    adds.with(name).add();
    waited.with(name).observe(0);
    try {
      return await run();
    } catch (error) {
      retries.with(name).add();
      throw error;
    } finally {
      begun.delete(began);
      worked.with(name).observe((performance.now() - began) / 1000);
    }
  };
}
