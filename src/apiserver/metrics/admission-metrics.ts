// How long each admission plugin takes, and whether it refused.
import type { AdmissionPlugin } from "#admission";
import type { Metrics } from "#base";

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
  const timed =
    <A extends Parameters<NonNullable<AdmissionPlugin["mutate"]>>[0], R>(
      name: string,
      type: "admit" | "validate",
      run: (attributes: A) => Promise<R>,
      refused: (result: R) => boolean,
    ) =>
    async (attributes: A): Promise<R> => {
      const began = performance.now();
      let rejected = true;
      try {
        const result = await run(attributes);
        rejected = refused(result);
        return result;
      } finally {
        const series = duration.with(name, attributes.operation, String(rejected), type);
        series.observe((performance.now() - began) / 1000);
      }
    };
  return plugins.map((plugin) => ({
    ...plugin,
    ...(plugin.mutate && {
      mutate: timed(plugin.name, "admit", (attributes) => plugin.mutate!(attributes), () => false),
    }),
    ...(plugin.validate && {
      validate: timed(plugin.name, "validate", (attributes) => plugin.validate!(attributes), (errors) => errors.length > 0),
    }),
  })); // prettier-ignore
}
