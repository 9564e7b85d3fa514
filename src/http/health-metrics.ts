// /metrics/slis: results of health checks, from which availability is computed.
import { type MetricsOptions, createMetrics, processStart } from "#base";
import type { Dialect } from "#dialect";
import type { HealthObserver } from "./health.ts";

export interface HealthMetrics extends HealthObserver {
  expose(): string;
  /** Removes all series, for DELETE requests. */
  reset(): void;
}

/** Response body to a DELETE of metrics. */
export const metricsReset = "metrics reset\n";

export function healthMetrics(dialect: Dialect, shown: MetricsOptions = {}): HealthMetrics {
  const metrics = createMetrics(shown);
  const prefix = dialect.data.metricPrefix;
  const last = metrics.gauge({
    name: `${prefix}healthcheck`,
    help: "Result of the last run of a health check: 1 for success, 0 for failure.",
    stability: "ALPHA",
    labels: ["name", "type"],
  });
  const all = metrics.counter({
    name: `${prefix}healthchecks_total`,
    help: "Number of health check results, by check, status and type.",
    stability: "ALPHA",
    labels: ["name", "status", "type"],
  });
  const start = processStart(metrics, "ALPHA");
  return {
    expose: () => metrics.expose(),
    reset: () => {
      last.clear();
      all.clear();
      start.clear();
    },
    checked: (endpoint, name, fine) => {
      last.with(name, endpoint).set(fine ? 1 : 0);
      all.with(name, fine ? "success" : "error", endpoint).add();
    },
  };
}
