// Reports the server's recurring work as work queues in which nothing waits.
import { type Metrics, type OneQueueMetrics, queueMetrics } from "#base";

/** Runs one work item under the given queue name. */
export type MeasuredWork = <T>(name: string, run: () => Promise<T>) => Promise<T>;

export function workMetrics(metrics: Metrics): MeasuredWork {
  const metricsOf = queueMetrics(metrics, () => performance.now());
  const queues = new Map<string, OneQueueMetrics>();
  return async (name, run) => {
    const queue = queues.getOrInsertComputed(name, metricsOf);
    queue.added();
    const ended = queue.started(0, 0);
    try {
      return await run();
    } catch (error) {
      queue.retried();
      throw error;
    } finally {
      ended();
    }
  };
}
