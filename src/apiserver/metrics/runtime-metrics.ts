// Resource usage of the process and delay of its event loop.
import { type Metrics, processMetrics } from "#base";

/** The event loop is sampled often while it is busy, and rarely when idle so as not to wake the machine. */
const sampleIntervalMilliseconds = { busy: 50, idle: 1000 };
const busyShare = 0.02;
const delaySeconds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** Registers the metrics; the returned function stops the measurement. */
export function runtimeMetrics(metrics: Metrics): () => void {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help }).with();
  const heapUsed = gauge("nodejs_heap_size_used_bytes", "Size of the JavaScript heap in use in bytes.");
  const external = gauge(
    "nodejs_external_memory_bytes",
    "Memory used by buffers and other objects outside the heap in bytes.",
  );
  const active = gauge(
    "nodejs_active_resources_total",
    "Number of resources (handles and requests) that keep the event loop alive.",
  );
  processMetrics(metrics);
  metrics.beforeScrape(() => {
    const memory = process.memoryUsage();
    heapUsed.set(memory.heapUsed);
    external.set(memory.external);
    active.set(process.getActiveResourcesInfo().length);
  });
  return eventLoopDelay(metrics);
}

/** Measures how late a timer fires, which is how long any other task has waited, too. */
function eventLoopDelay(metrics: Metrics): () => void {
  const delay = metrics
    .histogram({
      name: "nodejs_eventloop_delay_seconds",
      help: "Delay of the event loop in seconds: how late timers fire.",
      buckets: delaySeconds,
    })
    .with();
  let before = performance.eventLoopUtilization();
  let timer: NodeJS.Timeout;
  const scheduleSample = (milliseconds: number): void => {
    const expected = performance.now() + milliseconds;
    timer = setTimeout(() => {
      delay.observe(Math.max(0, performance.now() - expected) / 1000);
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      scheduleSample(sampleIntervalMilliseconds[utilization > busyShare ? "busy" : "idle"]);
    }, milliseconds);
    timer.unref();
  };
  scheduleSample(sampleIntervalMilliseconds.busy);
  return () => clearTimeout(timer);
}
