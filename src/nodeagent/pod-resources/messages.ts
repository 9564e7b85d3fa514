// The messages of the pod resources API: CPUs, memory and devices assigned exclusively to containers.
import type { MessageOf } from "#cri";
import { apiPackage, int64, list, optional, required, string, uint64 } from "#schema";

const { message } = apiPackage({ package: "podresources.v1" });

const NumaNode = message("NUMANode", "A NUMA node.", { ID: optional(1, int64, "Node ID.") });
const TopologyInfo = message("TopologyInfo", "NUMA topology of a resource.", {
  nodes: required(1, list(NumaNode), "NUMA nodes."),
});
const ContainerMemory = message("ContainerMemory", "Memory of a container.", {
  memoryType: optional(1, string, "Memory or a huge page type."),
  size: optional(2, uint64, "Size in bytes."),
  topology: optional(3, TopologyInfo, "Topology."),
});
const ContainerDevices = message("ContainerDevices", "Devices of one resource.", {
  resourceName: optional(1, string, "Resource name."),
  deviceIds: required(2, list(string), "Device IDs."),
  topology: optional(3, TopologyInfo, "Topology."),
});
const ContainerResources = message("ContainerResources", "Resources assigned to a container.", {
  name: optional(1, string, "Container name."),
  devices: required(2, list(ContainerDevices), "Devices."),
  cpuIds: required(3, list(int64), "CPU IDs."),
  memory: required(4, list(ContainerMemory), "Memory."),
});
const PodResources = message("PodResources", "Resources assigned to a pod.", {
  name: optional(1, string, "Pod name."),
  namespace: optional(2, string, "Pod namespace."),
  containers: required(3, list(ContainerResources), "Containers of the pod."),
});
export type PodResources = MessageOf<typeof PodResources>;

export const Empty = message("ListPodResourcesRequest", "Lists the resources of all pods.", {});
export const ListResponse = message("ListPodResourcesResponse", "Response of List.", {
  podResources: required(1, list(PodResources), "Pods in no particular order."),
});
export const GetRequest = message("GetPodResourcesRequest", "Requests the resources of one pod.", {
  podName: required(1, string, "Pod name."),
  podNamespace: required(2, string, "Pod namespace."),
});
export const GetResponse = message("GetPodResourcesResponse", "Response of Get.", {
  podResources: optional(1, PodResources, "Resources of the pod."),
});
export const AllocatableResponse = message(
  "AllocatableResourcesResponse",
  "Allocatable resources of the node.",
  {
    devices: required(1, list(ContainerDevices), "Devices."),
    cpuIds: required(2, list(int64), "CPU IDs."),
    memory: required(3, list(ContainerMemory), "Memory."),
  },
);
