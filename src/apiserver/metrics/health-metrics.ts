// /metrics/slis: what the health checks found, for those who reckon how long a server was well.
import { type Metrics, type MetricsOptions, createMetrics } from "#base";
import type { Dialect } from "#dialect";
import type { HealthObserver } from "../health/health.ts";
import { processStart } from "./process-metrics.ts";

export interface HealthMetrics extends HealthObserver {
  readonly metrics: Metrics;
}

export function healthMetrics(dialect: Dialect, shown: MetricsOptions = {}): HealthMetrics {
  const metrics = createMetrics(shown);
  const prefix = dialect.data.metricPrefix;
  const last = metrics.gauge({
    name: `${prefix}healthcheck`,
    help: "What a health check found last: 1 for success.",
    stability: "ALPHA",
    labels: ["name", "type"],
  });
  const all = metrics.counter({
    name: `${prefix}healthchecks_total`,
    help: "How often a health check found what.",
    stability: "ALPHA",
    labels: ["name", "status", "type"],
  });
  processStart(metrics, "ALPHA");
  return {
    metrics,
    found: (endpoint, name, fine) => {
      last.with(name, endpoint).set(fine ? 1 : 0);
      all.with(name, fine ? "success" : "error", endpoint).add();
    },
  };
}
