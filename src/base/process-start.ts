// The start time of the process, exposed by every registry: counters started at zero then.
import type { Family, Gauge, Metrics } from "./metrics.ts";

export function processStart(metrics: Metrics, stability?: "ALPHA"): Family<Gauge> {
  const start = metrics.gauge({
    name: "process_start_time_seconds",
    help: "Start time of the process in seconds since the Unix epoch.",
    ...(stability && { stability }),
  });
  start.with().set(performance.timeOrigin / 1000);
  return start;
}
