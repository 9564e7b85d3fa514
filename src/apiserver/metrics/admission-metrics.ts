// Admission latency per plug-in and per step, by outcome.
import type { AdmissionObserver } from "#admission";
import type { Histogram, Metrics, Summary } from "#base";

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

export function admissionMetrics(metrics: Metrics): AdmissionObserver {
  const plugins = metrics.histogram({
    name: "apiserver_admission_controller_admission_duration_seconds",
    help: "Latency of admission plugins in seconds, by name, operation, type and rejection.",
    stability: "STABLE",
    labels: ["name", "operation", "rejected", "type"],
    buckets,
  });
  const name = "apiserver_admission_step_admission_duration_seconds";
  const help = "Latency of admission steps in seconds, by type, operation and rejection.";
  const labels = ["type", "operation", "rejected"];
  const steps = metrics.histogram({ name, help, stability: "STABLE", labels, buckets });
  const summaries = metrics.summary({ name: `${name}_summary`, help, stability: "ALPHA", labels });

  // Nearly all calls hit a few series; these are found without building label keys.
  const accepted = {
    admit: new Map<string, Map<string, Histogram>>(),
    validate: new Map<string, Map<string, Histogram>>(),
  };
  const acceptedSteps = {
    admit: new Map<string, { histogram: Histogram; summary: Summary }>(),
    validate: new Map<string, { histogram: Histogram; summary: Summary }>(),
  };
  return {
    plugin: (plugin, step, operation, refused, seconds) => {
      const series = refused
        ? plugins.with(plugin, operation, "true", step)
        : accepted[step]
            .getOrInsertComputed(plugin, () => new Map<string, Histogram>())
            .getOrInsertComputed(operation, () => plugins.with(plugin, operation, "false", step));
      series.observe(seconds);
    },
    step: (step, operation, refused, seconds) => {
      const seriesOf = (rejected: string) => ({
        histogram: steps.with(step, operation, rejected),
        summary: summaries.with(step, operation, rejected),
      });
      const { histogram, summary } = refused
        ? seriesOf("true")
        : acceptedSteps[step].getOrInsertComputed(operation, () => seriesOf("false"));
      histogram.observe(seconds);
      summary.observe(seconds);
    },
  };
}
