// CRI messages for stats and metrics of sandboxes and containers.
import { list, map, optional, required, string } from "#schema";
import { UInt64Value } from "./common.ts";
import { ContainerMetadata } from "./container.ts";
import { FilesystemUsage } from "./image.ts";
import { type MessageOf, message, nanoseconds, requiredEnum } from "./declarations.ts";
import { PodSandboxMetadata } from "./sandbox.ts";

const CpuUsage = message("CpuUsage", "Processor time.", {
  timestamp: required(1, nanoseconds, "When it was looked at."),
  usageCoreNanoSeconds: optional(2, UInt64Value, "Nanoseconds since the start, over all cores."),
  usageNanoCores: optional(3, UInt64Value, "Billionths of a core lately."),
});
const MemoryUsage = message("MemoryUsage", "Memory.", {
  timestamp: required(1, nanoseconds, "When it was looked at."),
  workingSetBytes: optional(2, UInt64Value, "In use and not easily given back."),
  availableBytes: optional(3, UInt64Value, "Left below the limit."),
  usageBytes: optional(4, UInt64Value, "All in use."),
  rssBytes: optional(5, UInt64Value, "Anonymous."),
  pageFaults: optional(6, UInt64Value, "Faults."),
  majorPageFaults: optional(7, UInt64Value, "Faults that went to disk."),
});
const ContainerAttributes = message("ContainerAttributes", "Which container.", {
  id: required(1, string, "Its id."),
  metadata: optional(2, ContainerMetadata, "Its name."),
  labels: required(3, map(string), "To find it by."),
  annotations: required(4, map(string), "Kept with it."),
});
export const ContainerStats = message("ContainerStats", "What a container uses.", {
  attributes: optional(1, ContainerAttributes, "Which."),
  cpu: optional(2, CpuUsage, "Processor time."),
  memory: optional(3, MemoryUsage, "Memory."),
  writableLayer: optional(4, FilesystemUsage, "Disk it has written."),
});
export type ContainerStats = MessageOf<typeof ContainerStats>;
export const ContainerStatsRequest = message("ContainerStatsRequest", "Asks what a container uses.", {
  containerId: optional(1, string, "Which."),
});
export const ContainerStatsResponse = message("ContainerStatsResponse", "What a container uses.", {
  stats: optional(1, ContainerStats, "The figures."),
});
export const ContainerStatsFilter = message("ContainerStatsFilter", "Which containers.", {
  id: optional(1, string, "With this id."),
  podSandboxId: optional(2, string, "In this sandbox."),
  labelSelector: optional(3, map(string), "With all these labels."),
});
export type ContainerStatsFilter = MessageOf<typeof ContainerStatsFilter>;
export const ListContainerStatsRequest = message("ListContainerStatsRequest", "Asks what containers use.", {
  filter: optional(1, ContainerStatsFilter, "Which."),
});
export const ListContainerStatsResponse = message("ListContainerStatsResponse", "What containers use.", {
  stats: required(1, list(ContainerStats), "In no order."),
});

const NetworkInterfaceUsage = message("NetworkInterfaceUsage", "Traffic of an interface.", {
  name: required(1, string, "Its name."),
  rxBytes: optional(2, UInt64Value, "Bytes in."),
  rxErrors: optional(3, UInt64Value, "Errors in."),
  txBytes: optional(4, UInt64Value, "Bytes out."),
  txErrors: optional(5, UInt64Value, "Errors out."),
});
const NetworkUsage = message("NetworkUsage", "Traffic.", {
  timestamp: required(1, nanoseconds, "When it was looked at."),
  defaultInterface: optional(2, NetworkInterfaceUsage, "The main one."),
  interfaces: required(3, list(NetworkInterfaceUsage), "The others."),
});
const ProcessUsage = message("ProcessUsage", "Processes.", {
  timestamp: required(1, nanoseconds, "When it was looked at."),
  processCount: optional(2, UInt64Value, "How many."),
});
const LinuxPodSandboxStats = message("LinuxPodSandboxStats", "What a sandbox uses on Linux.", {
  cpu: optional(1, CpuUsage, "Processor time."),
  memory: optional(2, MemoryUsage, "Memory."),
  network: optional(3, NetworkUsage, "Traffic."),
  process: optional(4, ProcessUsage, "Processes."),
  containers: required(5, list(ContainerStats), "Each of its containers."),
});
const PodSandboxAttributes = message("PodSandboxAttributes", "Which sandbox.", {
  id: required(1, string, "Its id."),
  metadata: optional(2, PodSandboxMetadata, "Its name."),
  labels: required(3, map(string), "To find it by."),
  annotations: required(4, map(string), "Kept with it."),
});
export const PodSandboxStats = message("PodSandboxStats", "What a sandbox uses.", {
  attributes: optional(1, PodSandboxAttributes, "Which."),
  linux: optional(2, LinuxPodSandboxStats, "On Linux."),
});
export type PodSandboxStats = MessageOf<typeof PodSandboxStats>;
export const PodSandboxStatsRequest = message("PodSandboxStatsRequest", "Asks what a sandbox uses.", {
  podSandboxId: optional(1, string, "Which."),
});
export const PodSandboxStatsResponse = message("PodSandboxStatsResponse", "What a sandbox uses.", {
  stats: optional(1, PodSandboxStats, "The figures."),
});
export const PodSandboxStatsFilter = message("PodSandboxStatsFilter", "Which sandboxes.", {
  id: optional(1, string, "With this id."),
  labelSelector: optional(2, map(string), "With all these labels."),
});
export type PodSandboxStatsFilter = MessageOf<typeof PodSandboxStatsFilter>;
export const ListPodSandboxStatsRequest = message("ListPodSandboxStatsRequest", "Asks what sandboxes use.", {
  filter: optional(1, PodSandboxStatsFilter, "Which."),
});
export const ListPodSandboxStatsResponse = message("ListPodSandboxStatsResponse", "What sandboxes use.", {
  stats: required(1, list(PodSandboxStats), "In no order."),
});

const MetricDescriptor = message("MetricDescriptor", "A metric the runtime offers.", {
  name: required(1, string, "Its name."),
  help: required(2, string, "What it means."),
  labelKeys: required(3, list(string), "The names of its labels."),
});
export type MetricDescriptor = MessageOf<typeof MetricDescriptor>;
export const ListMetricDescriptorsRequest = message(
  "ListMetricDescriptorsRequest",
  "Asks for the metrics there are.",
  {},
);
export const ListMetricDescriptorsResponse = message(
  "ListMetricDescriptorsResponse",
  "The metrics there are.",
  {
    descriptors: required(1, list(MetricDescriptor), "In no order."),
  },
);
const Metric = message("Metric", "One figure.", {
  name: required(1, string, "Its name."),
  timestamp: required(2, nanoseconds, "When it was looked at."),
  metricType: requiredEnum(3, ["COUNTER", "GAUGE"], "Whether it only grows."),
  labelValues: required(4, list(string), "The values of its labels, in the order of their names."),
  value: optional(5, UInt64Value, "The figure."),
});
const ContainerMetrics = message("ContainerMetrics", "Figures of a container.", {
  containerId: required(1, string, "Which."),
  metrics: required(2, list(Metric), "The figures."),
});
const PodSandboxMetrics = message("PodSandboxMetrics", "Figures of a sandbox.", {
  podSandboxId: required(1, string, "Which."),
  metrics: required(2, list(Metric), "The figures."),
  containerMetrics: required(3, list(ContainerMetrics), "Each of its containers."),
});
export type PodSandboxMetrics = MessageOf<typeof PodSandboxMetrics>;
export const ListPodSandboxMetricsRequest = message(
  "ListPodSandboxMetricsRequest",
  "Asks for the figures of all sandboxes.",
  {},
);
export const ListPodSandboxMetricsResponse = message(
  "ListPodSandboxMetricsResponse",
  "The figures of all sandboxes.",
  {
    podMetrics: required(1, list(PodSandboxMetrics), "In no order."),
  },
);
