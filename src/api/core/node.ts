// Nodes: machines that run pods.
import { type TypeOf, bool, embedded, int32, int64, list, optional, required, string, time } from "#schema";
import { openEnum, patchMerge, dialectFields } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus, ResourceList, UID, UniqueVolumeName } from "../named-types.ts";
import { core } from "../packages.ts";
import { Taint } from "./affinity.ts";

const { message, kind, named } = core;

export const ConfigMapNodeConfigSource = message(
  "ConfigMapNodeConfigSource",
  "A config map with the configuration of a node; no longer used.",
  {
    namespace: required(1, string, "Namespace of the config map."),
    name: required(2, string, "Name of the config map."),
    uid: optional(3, UID, "UID of the config map."),
    resourceVersion: optional(4, string, "Resource version of the config map."),
    ...dialectFields({
      nodeagentConfigKey: required(5, string, "Key of the config map that contains the configuration."),
    }),
  },
);
export type ConfigMapNodeConfigSource = TypeOf<typeof ConfigMapNodeConfigSource>;

export const NodeConfigSource = message(
  "NodeConfigSource",
  "Source of the configuration of a node; no longer used.",
  {
    configMap: optional(2, ConfigMapNodeConfigSource, "Config map with the configuration."),
  },
);
export type NodeConfigSource = TypeOf<typeof NodeConfigSource>;

export const NodeConfigStatus = message(
  "NodeConfigStatus",
  "Status of the configuration of a node; no longer used.",
  {
    assigned: optional(1, NodeConfigSource, "Configuration that the node was assigned."),
    active: optional(2, NodeConfigSource, "Configuration that the node actively uses."),
    lastKnownGood: optional(
      3,
      NodeConfigSource,
      "Configuration that the node falls back to if the assigned one fails.",
    ),
    error: optional(4, string, "Error in applying the assigned configuration."),
  },
);
export type NodeConfigStatus = TypeOf<typeof NodeConfigStatus>;

export const NodeSpec = message("NodeSpec", "Specification of a node.", {
  podCIDR: optional(1, string, "CIDR from which the pods of the node get their IP addresses."),
  podCIDRs: optional(
    7,
    list(string),
    "Pod CIDRs of the node, at most one of each IP family; the first equals podCIDR.",
    patchMerge(),
  ),
  providerID: optional(
    3,
    string,
    "ID of the node assigned by the cloud provider, in the form provider://id.",
  ),
  unschedulable: optional(
    4,
    bool,
    "Whether new pods are kept from being scheduled onto the node; set by a cordon.",
  ),
  taints: optional(5, list(Taint), "Taints of the node."),
  configSource: optional(6, NodeConfigSource, "Deprecated; no longer used."),
  externalID: optional(2, string, "Deprecated; no longer used."),
});
export type NodeSpec = TypeOf<typeof NodeSpec>;

export const DaemonEndpoint = message("DaemonEndpoint", "Endpoint of a daemon.", {
  Port: required(1, int32, "Port number that the daemon listens on."),
});
export type DaemonEndpoint = TypeOf<typeof DaemonEndpoint>;

export const NodeDaemonEndpoints = message(
  "NodeDaemonEndpoints",
  "Endpoints of the daemons that run on a node.",
  {
    ...dialectFields({
      nodeagentEndpoint: embedded(1, DaemonEndpoint, "Endpoint of the node agent."),
    }),
  },
);
export type NodeDaemonEndpoints = TypeOf<typeof NodeDaemonEndpoints>;

export const NodeSystemInfo = message(
  "NodeSystemInfo",
  "Identity of a node's machine and versions of its software.",
  {
    machineID: required(1, string, "Machine ID of the operating system installation, as in /etc/machine-id."),
    systemUUID: required(2, string, "System UUID reported by the hardware."),
    bootID: required(3, string, "ID of the current boot."),
    kernelVersion: required(4, string, "Version of the kernel."),
    osImage: required(5, string, "Name and version of the operating system image."),
    containerRuntimeVersion: required(6, string, "Name and version of the container runtime."),
    ...dialectFields({
      nodeagentVersion: required(7, string, "Version of the node agent."),
      orchProxyVersion: required(8, string, "Version of the service proxy."),
    }),
    operatingSystem: required(9, string, "Operating system of the node: linux or windows."),
    architecture: required(10, string, "Architecture of the node, such as amd64 or arm64."),
  },
);
export type NodeSystemInfo = TypeOf<typeof NodeSystemInfo>;

export const AttachedVolume = message("AttachedVolume", "A volume attached to a node.", {
  name: required(1, UniqueVolumeName, "Unique name of the volume."),
  devicePath: required(2, string, "Path of the device on the node."),
});
export type AttachedVolume = TypeOf<typeof AttachedVolume>;

export const ContainerImage = message("ContainerImage", "A container image on a node.", {
  names: required(1, list(string), "Names by which the image is known, including tags and digests.", {
    published: "optional",
  }),
  sizeBytes: optional(2, int64, "Size of the image in bytes."),
});
export type ContainerImage = TypeOf<typeof ContainerImage>;

export const NodeCondition = message("NodeCondition", "A condition of a node.", {
  type: required(1, named("NodeConditionType", string), "Type of the condition."),
  status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
  lastHeartbeatTime: embedded(3, time, "Time at which the condition was last reported."),
  lastTransitionTime: embedded(4, time, "Time at which the status of the condition last changed."),
  reason: optional(5, string, "Machine-readable reason for the last transition, one CamelCase word."),
  message: optional(6, string, "Human-readable details of the last transition."),
});
export type NodeCondition = TypeOf<typeof NodeCondition>;

export const NodeAddress = message("NodeAddress", "An address of a node.", {
  type: required(
    1,
    named("NodeAddressType", string),
    "Type of the address: Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.",
  ),
  address: required(2, string, "IP address or host name."),
});
export type NodeAddress = TypeOf<typeof NodeAddress>;

export const NodeStatus = message("NodeStatus", "Current status of a node.", {
  capacity: optional(1, ResourceList, "Total resources of the node."),
  allocatable: optional(
    2,
    ResourceList,
    "Resources of the node that are available to pods; defaults to the capacity.",
  ),
  phase: optional(
    3,
    named("NodePhase", string),
    "Deprecated; no longer used.",
    openEnum("Pending", "Running", "Terminated"),
  ),
  conditions: optional(
    4,
    list(NodeCondition),
    "Observed conditions, such as Ready, MemoryPressure, DiskPressure and PIDPressure.",
    patchMerge("type"),
  ),
  addresses: optional(
    5,
    list(NodeAddress),
    "Addresses at which the node can be reached.",
    patchMerge("type"),
  ),
  daemonEndpoints: embedded(6, NodeDaemonEndpoints, "Endpoints of the daemons that run on the node."),
  nodeInfo: embedded(7, NodeSystemInfo, "Identity of the machine and versions of its software."),
  images: optional(8, list(ContainerImage), "Container images on the node."),
  volumesInUse: optional(
    9,
    list(UniqueVolumeName),
    "Unique names of attachable volumes that are in use (mounted) on the node.",
  ),
  volumesAttached: optional(10, list(AttachedVolume), "Volumes that are attached to the node."),
  config: optional(11, NodeConfigStatus, "Deprecated; no longer used."),
});
export type NodeStatus = TypeOf<typeof NodeStatus>;

export const Node = kind("Node", "A worker machine that runs pods.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, NodeSpec, "Specification of the node."),
  status: embedded(3, NodeStatus, "Most recently observed status of the node."),
});
export type Node = TypeOf<typeof Node>;
