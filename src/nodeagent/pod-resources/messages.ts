// The messages of the pod resources API: CPUs, memory and devices assigned exclusively to containers.
import type { MessageOf } from "#cri";
import { apiPackage, int64, list, optional, required, string, uint64 } from "#schema";

const { message } = apiPackage({ package: "podresources.v1" });

const NumaNode = message("NUMANode", "A NUMA node.", { ID: optional(1, int64, "Its number.") });
const TopologyInfo = message("TopologyInfo", "Where something is.", {
  nodes: required(1, list(NumaNode), "Near these nodes."),
});
const ContainerMemory = message("ContainerMemory", "Memory of a container.", {
  memoryType: optional(1, string, "Memory, or huge pages of a size."),
  size: optional(2, uint64, "Bytes."),
  topology: optional(3, TopologyInfo, "Where it is."),
});
const ContainerDevices = message("ContainerDevices", "Devices of one resource.", {
  resourceName: optional(1, string, "The resource."),
  deviceIds: required(2, list(string), "The devices."),
  topology: optional(3, TopologyInfo, "Where they are."),
});
const ContainerResources = message("ContainerResources", "What a container has.", {
  name: optional(1, string, "The container."),
  devices: required(2, list(ContainerDevices), "Devices."),
  cpuIds: required(3, list(int64), "CPUs."),
  memory: required(4, list(ContainerMemory), "Memory."),
});
const PodResources = message("PodResources", "What a pod has.", {
  name: optional(1, string, "The pod."),
  namespace: optional(2, string, "Its namespace."),
  containers: required(3, list(ContainerResources), "Its containers."),
});
export type PodResources = MessageOf<typeof PodResources>;

export const Empty = message("ListPodResourcesRequest", "Asks for all.", {});
export const ListResponse = message("ListPodResourcesResponse", "All pods.", {
  podResources: required(1, list(PodResources), "In no order."),
});
export const GetRequest = message("GetPodResourcesRequest", "Asks for one.", {
  podName: required(1, string, "The pod."),
  podNamespace: required(2, string, "Its namespace."),
});
export const GetResponse = message("GetPodResourcesResponse", "One pod.", {
  podResources: optional(1, PodResources, "It."),
});
export const AllocatableResponse = message("AllocatableResourcesResponse", "What there is to have.", {
  devices: required(1, list(ContainerDevices), "Devices."),
  cpuIds: required(2, list(int64), "CPUs."),
  memory: required(3, list(ContainerMemory), "Memory."),
});
