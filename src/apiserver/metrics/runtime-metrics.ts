// What the process itself uses, and how long its event loop keeps others waiting.
import { type Metrics, processMetrics } from "#base";

/** The event loop is looked at often while there is work, and not to wake a machine that has none. */
const lookEveryMilliseconds = { busy: 50, idle: 1000 };
const busyShare = 0.02;
const delaySeconds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** Declares the figures; the returned function stops the measuring. */
export function runtimeMetrics(metrics: Metrics): () => void {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help }).with();
  const heapUsed = gauge("nodejs_heap_size_used_bytes", "Memory that objects of the language use.");
  const external = gauge("nodejs_external_memory_bytes", "Memory that buffers outside the heap use.");
  const active = gauge("nodejs_active_resources_total", "Handles and requests that keep the process busy.");
  processMetrics(metrics);
  metrics.beforeScrape(() => {
    const memory = process.memoryUsage();
    heapUsed.set(memory.heapUsed);
    external.set(memory.external);
    active.set(process.getActiveResourcesInfo().length);
  });
  return eventLoopDelay(metrics);
}

/** How late a timer fires is how long anybody else has waited, too. */
function eventLoopDelay(metrics: Metrics): () => void {
  const delay = metrics
    .histogram({
      name: "nodejs_eventloop_delay_seconds",
      help: "How late the event loop comes to what is due.",
      buckets: delaySeconds,
    })
    .with();
  let before = performance.eventLoopUtilization();
  let timer: NodeJS.Timeout;
  const lookAfter = (milliseconds: number): void => {
    const expected = performance.now() + milliseconds;
    timer = setTimeout(() => {
      delay.observe(Math.max(0, performance.now() - expected) / 1000);
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      lookAfter(lookEveryMilliseconds[utilization > busyShare ? "busy" : "idle"]);
    }, milliseconds);
    timer.unref();
  };
  lookAfter(lookEveryMilliseconds.busy);
  return () => clearTimeout(timer);
}
