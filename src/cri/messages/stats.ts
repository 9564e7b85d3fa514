// CRI messages for stats and metrics of sandboxes and containers.
import { list, map, optional, required, string } from "#schema";
import { UInt64Value } from "./common.ts";
import { ContainerMetadata } from "./container.ts";
import { FilesystemUsage } from "./image.ts";
import { type MessageOf, message, nanoseconds, requiredEnum } from "./declarations.ts";
import { PodSandboxMetadata } from "./sandbox.ts";

const CpuUsage = message("CpuUsage", "CPU usage.", {
  timestamp: required(1, nanoseconds, "Time of measurement."),
  usageCoreNanoSeconds: optional(2, UInt64Value, "Cumulative CPU time in nanoseconds, over all cores."),
  usageNanoCores: optional(3, UInt64Value, "Current CPU usage in nanocores."),
});
const MemoryUsage = message("MemoryUsage", "Memory usage.", {
  timestamp: required(1, nanoseconds, "Time of measurement."),
  workingSetBytes: optional(2, UInt64Value, "Working set in bytes."),
  availableBytes: optional(3, UInt64Value, "Memory available below the limit in bytes."),
  usageBytes: optional(4, UInt64Value, "Total memory in use in bytes."),
  rssBytes: optional(5, UInt64Value, "Anonymous memory in bytes."),
  pageFaults: optional(6, UInt64Value, "Page faults."),
  majorPageFaults: optional(7, UInt64Value, "Major page faults."),
});
const ContainerAttributes = message("ContainerAttributes", "Attributes of a container.", {
  id: required(1, string, "ID."),
  metadata: optional(2, ContainerMetadata, "Metadata."),
  labels: required(3, map(string), "Labels."),
  annotations: required(4, map(string), "Annotations."),
});
export const ContainerStats = message("ContainerStats", "Stats of a container.", {
  attributes: optional(1, ContainerAttributes, "Attributes."),
  cpu: optional(2, CpuUsage, "CPU usage."),
  memory: optional(3, MemoryUsage, "Memory usage."),
  writableLayer: optional(4, FilesystemUsage, "Usage of the writable layer."),
});
export type ContainerStats = MessageOf<typeof ContainerStats>;
export const ContainerStatsRequest = message("ContainerStatsRequest", "Requests the stats of a container.", {
  containerId: optional(1, string, "Container ID."),
});
export const ContainerStatsResponse = message("ContainerStatsResponse", "Response of ContainerStats.", {
  stats: optional(1, ContainerStats, "Stats."),
});
export const ContainerStatsFilter = message("ContainerStatsFilter", "Filters containers.", {
  id: optional(1, string, "ID."),
  podSandboxId: optional(2, string, "Sandbox ID."),
  labelSelector: optional(3, map(string), "Labels that must all match."),
});
export type ContainerStatsFilter = MessageOf<typeof ContainerStatsFilter>;
export const ListContainerStatsRequest = message(
  "ListContainerStatsRequest",
  "Lists the stats of containers.",
  {
    filter: optional(1, ContainerStatsFilter, "Filter."),
  },
);
export const ListContainerStatsResponse = message(
  "ListContainerStatsResponse",
  "Response of ListContainerStats.",
  {
    stats: required(1, list(ContainerStats), "In no particular order."),
  },
);

const NetworkInterfaceUsage = message("NetworkInterfaceUsage", "Usage of a network interface.", {
  name: required(1, string, "Name."),
  rxBytes: optional(2, UInt64Value, "Received bytes."),
  rxErrors: optional(3, UInt64Value, "Receive errors."),
  txBytes: optional(4, UInt64Value, "Transmitted bytes."),
  txErrors: optional(5, UInt64Value, "Transmit errors."),
});
const NetworkUsage = message("NetworkUsage", "Network usage.", {
  timestamp: required(1, nanoseconds, "Time of measurement."),
  defaultInterface: optional(2, NetworkInterfaceUsage, "Usage of the default interface."),
  interfaces: required(3, list(NetworkInterfaceUsage), "Usage of the other interfaces."),
});
const ProcessUsage = message("ProcessUsage", "Process stats.", {
  timestamp: required(1, nanoseconds, "Time of measurement."),
  processCount: optional(2, UInt64Value, "Number of processes."),
});
const LinuxPodSandboxStats = message("LinuxPodSandboxStats", "Linux stats of a sandbox.", {
  cpu: optional(1, CpuUsage, "CPU usage."),
  memory: optional(2, MemoryUsage, "Memory usage."),
  network: optional(3, NetworkUsage, "Network usage."),
  process: optional(4, ProcessUsage, "Process stats."),
  containers: required(5, list(ContainerStats), "Stats of its containers."),
});
const PodSandboxAttributes = message("PodSandboxAttributes", "Attributes of a sandbox.", {
  id: required(1, string, "ID."),
  metadata: optional(2, PodSandboxMetadata, "Metadata."),
  labels: required(3, map(string), "Labels."),
  annotations: required(4, map(string), "Annotations."),
});
export const PodSandboxStats = message("PodSandboxStats", "Stats of a sandbox.", {
  attributes: optional(1, PodSandboxAttributes, "Attributes."),
  linux: optional(2, LinuxPodSandboxStats, "Linux stats."),
});
export type PodSandboxStats = MessageOf<typeof PodSandboxStats>;
export const PodSandboxStatsRequest = message("PodSandboxStatsRequest", "Requests the stats of a sandbox.", {
  podSandboxId: optional(1, string, "Sandbox ID."),
});
export const PodSandboxStatsResponse = message("PodSandboxStatsResponse", "Response of PodSandboxStats.", {
  stats: optional(1, PodSandboxStats, "Stats."),
});
export const PodSandboxStatsFilter = message("PodSandboxStatsFilter", "Filters sandboxes.", {
  id: optional(1, string, "ID."),
  labelSelector: optional(2, map(string), "Labels that must all match."),
});
export type PodSandboxStatsFilter = MessageOf<typeof PodSandboxStatsFilter>;
export const ListPodSandboxStatsRequest = message(
  "ListPodSandboxStatsRequest",
  "Lists the stats of sandboxes.",
  {
    filter: optional(1, PodSandboxStatsFilter, "Filter."),
  },
);
export const ListPodSandboxStatsResponse = message(
  "ListPodSandboxStatsResponse",
  "Response of ListPodSandboxStats.",
  {
    stats: required(1, list(PodSandboxStats), "In no particular order."),
  },
);

const MetricDescriptor = message("MetricDescriptor", "Describes a metric of the runtime.", {
  name: required(1, string, "Name."),
  help: required(2, string, "Help text."),
  labelKeys: required(3, list(string), "Label names."),
});
export type MetricDescriptor = MessageOf<typeof MetricDescriptor>;
export const ListMetricDescriptorsRequest = message(
  "ListMetricDescriptorsRequest",
  "Lists the metric descriptors.",
  {},
);
export const ListMetricDescriptorsResponse = message(
  "ListMetricDescriptorsResponse",
  "Response of ListMetricDescriptors.",
  {
    descriptors: required(1, list(MetricDescriptor), "In no particular order."),
  },
);
const Metric = message("Metric", "A metric sample.", {
  name: required(1, string, "Name."),
  timestamp: required(2, nanoseconds, "Time of measurement."),
  metricType: requiredEnum(3, ["COUNTER", "GAUGE"], "Metric type."),
  labelValues: required(4, list(string), "Label values in the order of the label names."),
  value: optional(5, UInt64Value, "Value."),
});
const ContainerMetrics = message("ContainerMetrics", "Metrics of a container.", {
  containerId: required(1, string, "Container ID."),
  metrics: required(2, list(Metric), "Metrics."),
});
const PodSandboxMetrics = message("PodSandboxMetrics", "Metrics of a sandbox.", {
  podSandboxId: required(1, string, "Sandbox ID."),
  metrics: required(2, list(Metric), "Metrics."),
  containerMetrics: required(3, list(ContainerMetrics), "Metrics of its containers."),
});
export type PodSandboxMetrics = MessageOf<typeof PodSandboxMetrics>;
export const ListPodSandboxMetricsRequest = message(
  "ListPodSandboxMetricsRequest",
  "Lists the metrics of all sandboxes.",
  {},
);
export const ListPodSandboxMetricsResponse = message(
  "ListPodSandboxMetricsResponse",
  "Response of ListPodSandboxMetrics.",
  {
    podMetrics: required(1, list(PodSandboxMetrics), "In no particular order."),
  },
);
