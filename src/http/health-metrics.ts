// /metrics/slis: what the health checks found, for those who reckon how long a program was well.
import { type MetricsOptions, createMetrics, processStart } from "#base";
import type { Dialect } from "#dialect";
import type { HealthObserver } from "./health.ts";

export interface HealthMetrics extends HealthObserver {
  expose(): string;
  /** Forgets all that is told, for those who DELETE it. */
  reset(): void;
}

/** What a DELETE of metrics is answered with. */
export const metricsReset = "metrics reset\n";

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
  const start = processStart(metrics, "ALPHA");
  return {
    expose: () => metrics.expose(),
    reset: () => {
      last.clear();
      all.clear();
      start.clear();
    },
    found: (endpoint, name, fine) => {
      last.with(name, endpoint).set(fine ? 1 : 0);
      all.with(name, fine ? "success" : "error", endpoint).add();
    },
  };
}
