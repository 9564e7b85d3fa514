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
    help: "Duration of storage operations in seconds; the volumes of a pod are unmounted in one operation.",
    labels: ["migrated", "operation_name", "status", "volume_plugin"],
    buckets,
    stability: "ALPHA",
  });
  const whole = metrics.histogram({
    name: "volume_operation_total_seconds",
    help: "Total time in seconds from the first mount attempt of a volume to success, retries included.",
    labels: ["operation_name", "plugin_name"],
    buckets,
    stability: "ALPHA",
  });
  const looks = metrics.histogram({
    name: `${dialect.data.agentMetricPrefix}volume_metric_collection_duration_seconds`,
    help: "Duration of volume usage measurements in seconds, by source.",
    labels: ["metric_source"],
    stability: "ALPHA",
  });
  const counter = (name: string, help: string) => metrics.counter({ name, help, stability: "ALPHA" }).with();
  const reconstructions = counter(
    "reconstruct_volume_operations_total",
    "Number of volumes found on disk at startup for which reconstruction was attempted.",
  );
  const unknown = counter(
    "reconstruct_volume_operations_errors_total",
    "Number of volumes that could not be reconstructed at startup.",
  );
  const forced = counter(
    "force_cleaned_failed_volume_operations_total",
    "Number of forced cleanups of volumes that could not be reconstructed and are no longer used.",
  );
  const notForced = counter(
    "force_cleaned_failed_volume_operation_errors_total",
    "Number of failed forced cleanups of volumes that could not be reconstructed.",
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
