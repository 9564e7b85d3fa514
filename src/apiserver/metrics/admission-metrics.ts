// How long admission takes, each plugin and all of them together, and whether it refused.
import type { AdmissionAttributes, AdmissionChain, AdmissionPlugin } from "#admission";
import type { Histogram, Metrics } from "#base";

/** The plugins, each measured at every call. */
export function measuredPlugins(
  plugins: readonly AdmissionPlugin[],
  metrics: Metrics,
): readonly AdmissionPlugin[] {
  const duration = metrics.histogram({
    name: "apiserver_admission_controller_admission_duration_seconds",
    help: "Seconds that an admission plugin took, by operation and by whether it refused.",
    stability: "STABLE",
    labels: ["name", "operation", "rejected", "type"],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5],
  });
  /** The series of a plugin's calls: there are few, so that each is looked up once. */
  const seriesOf = (
    name: string,
    type: "admit" | "validate",
  ): ((operation: string, refused: boolean) => Histogram) => {
    const accepted = new Map<string, Histogram>();
    const rejected = new Map<string, Histogram>();
    return (operation, refused) =>
      (refused ? rejected : accepted).getOrInsertComputed(operation, () =>
        duration.with(name, operation, String(refused), type),
      );
  };
  const mutateTimed = (plugin: AdmissionPlugin): NonNullable<AdmissionPlugin["mutate"]> => {
    const series = seriesOf(plugin.name, "admit");
    return async (attributes) => {
      const began = performance.now();
      let refused = true;
      try {
        await plugin.mutate!(attributes);
        refused = false;
      } finally {
        series(attributes.operation, refused).observe((performance.now() - began) / 1000);
      }
    };
  };
  const validateTimed = (plugin: AdmissionPlugin): NonNullable<AdmissionPlugin["validate"]> => {
    const series = seriesOf(plugin.name, "validate");
    return async (attributes) => {
      const began = performance.now();
      let refused = true;
      try {
        const errors = await plugin.validate!(attributes);
        refused = errors.length > 0;
        return errors;
      } finally {
        series(attributes.operation, refused).observe((performance.now() - began) / 1000);
      }
    };
  };
  return plugins.map((plugin) => ({
    ...plugin,
    ...(plugin.mutate && { mutate: mutateTimed(plugin) }),
    ...(plugin.validate && { validate: validateTimed(plugin) }),
  }));
}

/** The chain, with both of its steps measured as a whole. */
export function measuredChain(chain: AdmissionChain, metrics: Metrics): AdmissionChain {
  const name = "apiserver_admission_step_admission_duration_seconds";
  const help =
    "Seconds that all plugins of an admission step took, by operation and by whether they refused.";
  const labels = ["type", "operation", "rejected"];
  const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
  const histogram = metrics.histogram({ name, help, stability: "STABLE", labels, buckets });
  const summary = metrics.summary({ name: `${name}_summary`, help, stability: "ALPHA", labels });
  const timed =
    (type: "admit" | "validate", run: (attributes: AdmissionAttributes) => Promise<void>) =>
    async (attributes: AdmissionAttributes): Promise<void> => {
      const began = performance.now();
      let rejected = true;
      try {
        await run(attributes);
        rejected = false;
      } finally {
        const seconds = (performance.now() - began) / 1000;
        const values = [type, attributes.operation, String(rejected)] as const;
        histogram.with(...values).observe(seconds);
        summary.with(...values).observe(seconds);
      }
    };
  return {
    plugins: chain.plugins,
    mutate: timed("admit", (attributes) => chain.mutate(attributes)),
    validate: timed("validate", (attributes) => chain.validate(attributes)),
  };
}
