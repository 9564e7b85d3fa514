// `/metrics/resource` and `/metrics/cadvisor`: the figures in the text exposition format.
import type { InterfaceUsage } from "../resources/cgroup-usage.ts";
import type { Machine } from "../resources/machine.ts";
import type { NodeFigures } from "../resources/stats.ts";

type Labels = Readonly<Record<string, string>>;
interface Series {
  readonly labels: Labels;
  readonly value: number;
}

const escaped = (value: string): string => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

function exposed(name: string, type: "counter" | "gauge", help: string, series: readonly Series[], at?: number): string {
  if (series.length === 0) return "";
  const lines = series.map(({ labels, value }) => {
    const inside = Object.entries(labels)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, text]) => `${key}="${escaped(text)}"`)
      .join(",");
    return `${name}${inside === "" ? "" : `{${inside}}`} ${value}${at === undefined ? "" : ` ${at}`}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

export function resourceText(figures: NodeFigures): string {
  const { at, pods } = figures;
  const ofContainers = (value: (one: NodeFigures["pods"][number]["containers"][number]) => number): Series[] =>
    pods.flatMap(({ name: pod, namespace, containers }) => containers.map((one) => ({ labels: { container: one.name, namespace, pod }, value: value(one) })));
  const ofPods = (value: (pod: NodeFigures["pods"][number]) => number): Series[] => pods.map((pod) => ({ labels: { namespace: pod.namespace, pod: pod.name }, value: value(pod) }));
  return [
    exposed(
      "container_cpu_usage_seconds_total",
      "counter",
      "[ALPHA] Processor time that the container has used, in core-seconds",
      ofContainers((one) => one.cpu.nanoseconds / 1e9),
      at,
    ),
    exposed(
      "container_memory_working_set_bytes",
      "gauge",
      "[ALPHA] Working set of the container, in bytes",
      ofContainers((one) => one.workingSetBytes),
      at,
    ),
    exposed(
      "container_start_time_seconds",
      "gauge",
      "[ALPHA] Start time of the container, in seconds since the epoch",
      ofContainers((one) => one.startedAt / 1000),
      at,
    ),
    exposed(
      "node_cpu_usage_seconds_total",
      "counter",
      "[ALPHA] Processor time that the node has used, in core-seconds",
      [{ labels: {}, value: figures.cpu.nanoseconds / 1e9 }],
      at,
    ),
    exposed("node_memory_working_set_bytes", "gauge", "[ALPHA] Working set of the node, in bytes", [{ labels: {}, value: figures.memory.workingSetBytes }], at),
    exposed(
      "pod_cpu_usage_seconds_total",
      "counter",
      "[ALPHA] Processor time that the pod has used, in core-seconds",
      ofPods((pod) => pod.cpu.nanoseconds / 1e9),
      at,
    ),
    exposed(
      "pod_memory_working_set_bytes",
      "gauge",
      "[ALPHA] Working set of the pod, in bytes",
      ofPods((pod) => pod.usage?.workingSetBytes ?? pod.containers.reduce((sum, one) => sum + one.workingSetBytes, 0)),
      at,
    ),
    exposed("scrape_error", "gauge", "[ALPHA] 1 if the figures could not be had, 0 otherwise", [{ labels: {}, value: 0 }]),
  ].join("");
}

const nobody = { container: "", image: "", name: "", namespace: "", pod: "" };

/** Pods by their control groups, containers by what the runtime tells, the machine by itself. */
export function cadvisorText(figures: NodeFigures, machine: Machine, podsGroup: string): string {
  const { at, pods } = figures;
  const groups = [
    ...(figures.podsGroup ? [{ labels: { ...nobody, id: podsGroup }, usage: figures.podsGroup.usage, startedAt: figures.podsGroup.startedAt }] : []),
    ...pods.flatMap((pod) => (pod.usage ? [{ labels: { ...nobody, id: pod.group, namespace: pod.namespace, pod: pod.name }, usage: pod.usage, startedAt: pod.startedAt }] : [])),
  ];
  const containers = pods.flatMap((pod) =>
    pod.containers.map((one) => ({ labels: { container: one.name, id: `${pod.group}/${one.id}`, image: "", name: one.id, namespace: pod.namespace, pod: pod.name }, one })),
  );
  type Group = (typeof groups)[number];
  const ofGroups = (value: (usage: Group["usage"]) => number): Series[] => groups.map(({ labels, usage }) => ({ labels, value: value(usage) }));
  const ofNetwork = (value: (one: InterfaceUsage) => number): Series[] =>
    pods.flatMap((pod) => pod.network.map((one) => ({ labels: { ...nobody, id: pod.group, interface: one.name, namespace: pod.namespace, pod: pod.name }, value: value(one) })));
  const machineLabels = { boot_id: machine.bootId, machine_id: machine.machineId, system_uuid: machine.systemUuid };
  const withCpu = (series: readonly Series[]): Series[] => series.map(({ labels, value }) => ({ labels: { ...labels, cpu: "total" }, value }));
  return [
    exposed("cadvisor_version_info", "gauge", "The kernel and the system, as labels of a constant 1.", [
      { labels: { cadvisorRevision: "", cadvisorVersion: "", dockerVersion: "", kernelVersion: machine.kernelVersion, osVersion: machine.osImage }, value: 1 },
    ]),
    exposed(
      "container_cpu_cfs_periods_total",
      "counter",
      "Elapsed enforcement periods.",
      ofGroups((usage) => usage.periods),
      at,
    ),
    exposed(
      "container_cpu_cfs_throttled_periods_total",
      "counter",
      "Throttled enforcement periods.",
      ofGroups((usage) => usage.throttledPeriods),
      at,
    ),
    exposed(
      "container_cpu_cfs_throttled_seconds_total",
      "counter",
      "Time throttled.",
      ofGroups((usage) => usage.throttledNanoseconds / 1e9),
      at,
    ),
    exposed(
      "container_cpu_system_seconds_total",
      "counter",
      "Processor time in the kernel.",
      ofGroups((usage) => usage.systemNanoseconds / 1e9),
      at,
    ),
    exposed(
      "container_cpu_usage_seconds_total",
      "counter",
      "Processor time.",
      withCpu([...ofGroups((usage) => usage.cpuNanoseconds / 1e9), ...containers.map(({ labels, one }) => ({ labels, value: one.cpu.nanoseconds / 1e9 }))]),
      at,
    ),
    exposed(
      "container_cpu_user_seconds_total",
      "counter",
      "Processor time outside the kernel.",
      ofGroups((usage) => usage.userNanoseconds / 1e9),
      at,
    ),
    exposed(
      "container_fs_usage_bytes",
      "gauge",
      "Bytes written to the container's own layer.",
      containers.map(({ labels, one }) => ({ labels: { ...labels, device: "" }, value: one.rootfs.bytes })),
      at,
    ),
    exposed(
      "container_last_seen",
      "gauge",
      "When it was last seen.",
      [...groups, ...containers].map(({ labels }) => ({ labels, value: Math.floor(at / 1000) })),
      at,
    ),
    exposed(
      "container_memory_cache",
      "gauge",
      "Page cache.",
      ofGroups((usage) => usage.cacheBytes),
      at,
    ),
    exposed(
      "container_memory_failcnt",
      "counter",
      "How often the limit was hit.",
      ofGroups((usage) => usage.memoryFailures),
      at,
    ),
    exposed(
      "container_memory_mapped_file",
      "gauge",
      "Mapped files.",
      ofGroups((usage) => usage.mappedFileBytes),
      at,
    ),
    exposed(
      "container_memory_max_usage_bytes",
      "gauge",
      "Most memory in use so far.",
      ofGroups((usage) => usage.mostMemoryBytes),
      at,
    ),
    exposed(
      "container_memory_rss",
      "gauge",
      "Anonymous memory.",
      ofGroups((usage) => usage.rssBytes),
      at,
    ),
    exposed(
      "container_memory_swap",
      "gauge",
      "Swap in use.",
      ofGroups((usage) => usage.swapBytes),
      at,
    ),
    exposed(
      "container_memory_usage_bytes",
      "gauge",
      "Memory in use, caches included.",
      ofGroups((usage) => usage.memoryBytes),
      at,
    ),
    exposed(
      "container_memory_working_set_bytes",
      "gauge",
      "Memory in use that is not easily given back.",
      [...ofGroups((usage) => usage.workingSetBytes), ...containers.map(({ labels, one }) => ({ labels, value: one.workingSetBytes }))],
      at,
    ),
    exposed(
      "container_network_receive_bytes_total",
      "counter",
      "Bytes received.",
      ofNetwork((one) => one.rxBytes),
      at,
    ),
    exposed(
      "container_network_receive_errors_total",
      "counter",
      "Errors while receiving.",
      ofNetwork((one) => one.rxErrors),
      at,
    ),
    exposed(
      "container_network_receive_packets_dropped_total",
      "counter",
      "Packets dropped while receiving.",
      ofNetwork((one) => one.rxDropped),
      at,
    ),
    exposed(
      "container_network_receive_packets_total",
      "counter",
      "Packets received.",
      ofNetwork((one) => one.rxPackets),
      at,
    ),
    exposed(
      "container_network_transmit_bytes_total",
      "counter",
      "Bytes sent.",
      ofNetwork((one) => one.txBytes),
      at,
    ),
    exposed(
      "container_network_transmit_errors_total",
      "counter",
      "Errors while sending.",
      ofNetwork((one) => one.txErrors),
      at,
    ),
    exposed(
      "container_network_transmit_packets_dropped_total",
      "counter",
      "Packets dropped while sending.",
      ofNetwork((one) => one.txDropped),
      at,
    ),
    exposed(
      "container_network_transmit_packets_total",
      "counter",
      "Packets sent.",
      ofNetwork((one) => one.txPackets),
      at,
    ),
    exposed(
      "container_processes",
      "gauge",
      "Processes.",
      ofGroups((usage) => usage.processes),
      at,
    ),
    exposed("container_scrape_error", "gauge", "1 if the figures could not be had, 0 otherwise", [{ labels: {}, value: 0 }]),
    exposed(
      "container_spec_memory_limit_bytes",
      "gauge",
      "Memory limit; 0 is none.",
      ofGroups((usage) => usage.memoryLimitBytes ?? 0),
      at,
    ),
    exposed(
      "container_start_time_seconds",
      "gauge",
      "Start time in seconds since the epoch.",
      [...groups.map(({ labels, startedAt }) => ({ labels, value: startedAt / 1000 })), ...containers.map(({ labels, one }) => ({ labels, value: one.startedAt / 1000 }))],
      at,
    ),
    exposed("machine_cpu_cores", "gauge", "Logical processors.", [{ labels: machineLabels, value: machine.cpus }]),
    exposed("machine_memory_bytes", "gauge", "Memory of the machine.", [{ labels: machineLabels, value: machine.memoryBytes }]),
    exposed("machine_scrape_error", "gauge", "1 if the machine could not be read, 0 otherwise.", [{ labels: {}, value: 0 }]),
  ].join("");
}
