// Pod and container metrics reported by the runtime, served in place of the agent's own.
import type { ContainerRuntime, PodSandboxMetrics } from "#cri";
import { type Series, formatFamily } from "./metrics-text.ts";

type Runtime = Pick<ContainerRuntime, "listMetricDescriptors" | "listPodSandboxMetrics">;
type Descriptor = Awaited<ReturnType<Runtime["listMetricDescriptors"]>>[number];

/** Returns the current metrics of the runtime; empty on failure. The descriptors are requested once. */
export function runtimeMetrics(runtime: Runtime): () => Promise<string> {
  let known: Promise<ReadonlyMap<string, Descriptor>> | undefined;
  const descriptors = async (): Promise<ReadonlyMap<string, Descriptor>> =>
    new Map((await runtime.listMetricDescriptors()).map((each) => [each.name, each]));
  return async () => {
    try {
      known ??= descriptors();
      return runtimeMetricsText(await known, await runtime.listPodSandboxMetrics());
    } catch {
      known = undefined;
      return "";
    }
  };
}

export function runtimeMetricsText(
  known: ReadonlyMap<string, Descriptor>,
  pods: readonly PodSandboxMetrics[],
): string {
  const all = pods.flatMap(({ metrics, containerMetrics }) => [
    ...metrics,
    ...containerMetrics.flatMap((each) => each.metrics),
  ]);
  const byName = Map.groupBy(all, ({ name }) => name);
  return [...byName]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, metrics]) => {
      const descriptor = known.get(name);
      if (!descriptor) return "";
      const series = metrics.flatMap(({ labelValues, value, timestamp }): Series[] =>
        labelValues.length === descriptor.labelKeys.length
          ? [
              {
                labels: Object.fromEntries(descriptor.labelKeys.map((key, at) => [key, labelValues[at]!])),
                value: Number(value?.value ?? 0),
                ...(Number(timestamp) > 0 && { at: Math.trunc(Number(timestamp) / 1e6) }),
              },
            ]
          : [],
      );
      return formatFamily(name, metrics[0]!.metricType === 1 ? "gauge" : "counter", descriptor.help, series);
    })
    .join("");
}
