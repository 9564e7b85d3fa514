// Metrics of volume work: duration and errors of mount, unmount and reconstruction.
import type { Metrics } from "#base";
import type { Dialect } from "#dialect";
import type { VolumeMeterOptions } from "../resources/volume-meter.ts";
import type { VolumeMetrics } from "../interfaces.ts";

const buckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

export function createVolumeMetrics(
  metrics: Metrics,
  dialect: Dialect,
): VolumeMetrics & { readonly measured: NonNullable<VolumeMeterOptions["took"]> } {
  const operations = metrics.histogram({
    name: "storage_operation_duration_seconds",
    help: "How long setting up a volume took, and taking away a pod's volumes together, in seconds.",
    labels: ["migrated", "operation_name", "status", "volume_plugin"],
    buckets,
    stability: "ALPHA",
  });
  const whole = metrics.histogram({
    name: "volume_operation_total_seconds",
    help: "From the first attempt to set up a volume until it was there, in seconds.",
    labels: ["operation_name", "plugin_name"],
    buckets,
    stability: "ALPHA",
  });
  const looks = metrics.histogram({
    name: `${dialect.data.agentMetricPrefix}volume_metric_collection_duration_seconds`,
    help: "How long finding out what a volume holds took, in seconds.",
    labels: ["metric_source"],
    stability: "ALPHA",
  });
  const counter = (name: string, help: string) => metrics.counter({ name, help, stability: "ALPHA" }).with();
  const reconstructions = counter(
    "reconstruct_volume_operations_total",
    "Volumes of an earlier agent that were found when this one started.",
  );
  const unknown = counter(
    "reconstruct_volume_operations_errors_total",
    "Those of them that are not known by what lies there.",
  );
  const forced = counter(
    "force_cleaned_failed_volume_operations_total",
    "Attempts to take away volumes that are not known and that no pod has any more.",
  );
  const notForced = counter(
    "force_cleaned_failed_volume_operation_errors_total",
    "Those of these attempts that failed.",
  );
  return {
    reconstructed: (isGood) => {
      reconstructions.add();
      if (!isGood) unknown.add();
    },
    forceCleaned: (isGood) => {
      forced.add();
      if (!isGood) notForced.add();
    },
    measured: (how, milliseconds) => looks.with(how).observe(milliseconds / 1000),
    tried: (operation, plugin, milliseconds, isGood) =>
      operations
        .with("false", operation, isGood ? "success" : "fail-unknown", plugin)
        .observe(milliseconds / 1000),
    inPlace: (operation, plugin, milliseconds) =>
      whole.with(`overall_${operation}`, plugin).observe(milliseconds / 1000),
  };
}
