// Metrics of the autoscaler, under their upstream names.
import { type Metrics, exponentialBuckets } from "#base";

export type ScaleAction = "scale_up" | "scale_down" | "none";
/** Whose fault an error is: that of the object, or of a request or computation. */
export type ErrorKind = "spec" | "internal" | "none";

export interface AutoscalerMetrics {
  reconciled(action: ScaleAction, error: ErrorKind, seconds: number): void;
  computed(metricType: string, action: ScaleAction, error: ErrorKind, seconds: number): void;
}

export const scaleAction = (before: number, after: number): ScaleAction =>
  after > before ? "scale_up" : after < before ? "scale_down" : "none";

const buckets = exponentialBuckets(0.001, 2, 15);
const prefix = "horizontal_pod_autoscaler_controller";
const stability = "ALPHA";

export function autoscalerMetrics(metrics: Metrics): AutoscalerMetrics {
  const ofReconciliation = { labels: ["action", "error"], stability } as const;
  const ofMetric = { labels: ["action", "error", "metric_type"], stability } as const;
  const reconciliations = metrics.counter({
    ...ofReconciliation,
    name: `${prefix}_reconciliations_total`,
    help: "Number of reconciliations, by what they did (scale_up, scale_down, none) and error (spec, internal, none).",
  });
  const reconciling = metrics.histogram({
    ...ofReconciliation,
    name: `${prefix}_reconciliation_duration_seconds`,
    help: "Time in seconds that a reconciliation takes, by what it did and error.",
    buckets,
  });
  const computations = metrics.counter({
    ...ofMetric,
    name: `${prefix}_metric_computation_total`,
    help: "Number of computations of replicas from one metric, by proposal, error and type of the metric.",
  });
  const computing = metrics.histogram({
    ...ofMetric,
    name: `${prefix}_metric_computation_duration_seconds`,
    help: "Time in seconds that a computation takes, by proposal, error and type of the metric.",
    buckets,
  });
  return {
    reconciled: (action, error, seconds) => {
      reconciliations.with(action, error).add();
      reconciling.with(action, error).observe(seconds);
    },
    computed: (metricType, action, error, seconds) => {
      computations.with(action, error, metricType).add();
      computing.with(action, error, metricType).observe(seconds);
    },
  };
}
