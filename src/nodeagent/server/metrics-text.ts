// `/metrics/resource`: resource usage in the Prometheus text format.
import type { NodeStats } from "../resources/stats.ts";

export type Labels = Readonly<Record<string, string>>;
export interface Series {
  readonly labels: Labels;
  readonly value: number;
  /** Time of measurement, if it differs from the other series. */
  readonly at?: number;
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

export function formatFamily(
  name: string,
  type: "counter" | "gauge",
  help: string,
  series: readonly Series[],
  at?: number,
): string {
  if (series.length === 0) return "";
  const lines = series.map(({ labels, value, at: own = at }) => {
    const inside = Object.entries(labels)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, text]) => `${key}="${escaped(text)}"`)
      .join(",");
    return `${name}${inside === "" ? "" : `{${inside}}`} ${value}${own === undefined ? "" : ` ${own}`}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

/** Formats the stats; `figures` is undefined if they could not be collected. */
export function resourceText(nodeStats: NodeStats | undefined): string {
  if (!nodeStats) return scrapeError("scrape_error", "[ALPHA] ", 1);
  const { at, pods } = nodeStats;
  const ofContainers = (value: (one: NodeStats["pods"][number]["containers"][number]) => number): Series[] =>
    pods.flatMap(({ name: pod, namespace, containers }) =>
      containers.map((one) => ({ labels: { container: one.name, namespace, pod }, value: value(one) })),
    );
  const ofPods = (value: (pod: NodeStats["pods"][number]) => number): Series[] =>
    pods.map((pod) => ({ labels: { namespace: pod.namespace, pod: pod.name }, value: value(pod) }));
  return [
    formatFamily(
      "container_cpu_usage_seconds_total",
      "counter",
      "[ALPHA] Cumulative CPU time consumed by the container in core-seconds",
      ofContainers((one) => one.cpu.nanoseconds / 1e9),
      at,
    ),
    formatFamily(
      "container_memory_working_set_bytes",
      "gauge",
      "[ALPHA] Current working set of the container in bytes",
      ofContainers((one) => one.workingSetBytes),
      at,
    ),
    formatFamily(
      "container_start_time_seconds",
      "gauge",
      "[ALPHA] Start time of the container in seconds since the Unix epoch",
      ofContainers((one) => one.startedAt / 1000),
      at,
    ),
    formatFamily(
      "node_cpu_usage_seconds_total",
      "counter",
      "[ALPHA] Cumulative CPU time consumed by the node in core-seconds",
      [{ labels: {}, value: nodeStats.cpu.nanoseconds / 1e9 }],
      at,
    ),
    formatFamily(
      "node_memory_working_set_bytes",
      "gauge",
      "[ALPHA] Current working set of the node in bytes",
      [{ labels: {}, value: nodeStats.memory.workingSetBytes }],
      at,
    ),
    formatFamily(
      "pod_cpu_usage_seconds_total",
      "counter",
      "[ALPHA] Cumulative CPU time consumed by the pod in core-seconds",
      ofPods((pod) => pod.cpu.nanoseconds / 1e9),
      at,
    ),
    formatFamily(
      "pod_memory_working_set_bytes",
      "gauge",
      "[ALPHA] Current working set of the pod in bytes",
      ofPods(
        (pod) =>
          pod.usage?.workingSetBytes ?? pod.containers.reduce((sum, one) => sum + one.workingSetBytes, 0),
      ),
      at,
    ),
    scrapeError("scrape_error", "[ALPHA] ", 0),
  ].join("");
}

export const scrapeError = (name: string, stability: string, value: 0 | 1): string =>
  formatFamily(
    name,
    "gauge",
    `${stability}1 if there was an error while getting container metrics, 0 otherwise`,
    [{ labels: {}, value }],
  );
