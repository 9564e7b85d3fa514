// When the process began, which every registry of metrics tells: counters began anew then.
import type { Metrics } from "./metrics.ts";

export function processStart(metrics: Metrics, stability?: "ALPHA"): void {
  metrics
    .gauge({
      name: "process_start_time_seconds",
      help: "Start of the process, in seconds since the epoch.",
      ...(stability && { stability }),
    })
    .with()
    .set(performance.timeOrigin / 1000);
}
