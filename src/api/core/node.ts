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
  "A config map with settings of the node; no longer used.",
  {
    namespace: required(1, string, "Namespace of the map."),
    name: required(2, string, "Name of the map."),
    uid: optional(3, UID, "Identity of the map."),
    resourceVersion: optional(4, string, "Version of the map."),
    ...dialectFields({
      nodeagentConfigKey: required(5, string, "Key in the map that holds the settings."),
    }),
  },
);
export type ConfigMapNodeConfigSource = TypeOf<typeof ConfigMapNodeConfigSource>;

export const NodeConfigSource = message(
  "NodeConfigSource",
  "Where a node takes settings from; no longer used.",
  {
    configMap: optional(2, ConfigMapNodeConfigSource, "A config map."),
  },
);
export type NodeConfigSource = TypeOf<typeof NodeConfigSource>;

export const NodeConfigStatus = message(
  "NodeConfigStatus",
  "Which settings a node runs with; no longer used.",
  {
    assigned: optional(1, NodeConfigSource, "Settings it was told to use."),
    active: optional(2, NodeConfigSource, "Settings it uses."),
    lastKnownGood: optional(3, NodeConfigSource, "Settings it falls back to."),
    error: optional(4, string, "What went wrong with the assigned ones."),
  },
);
export type NodeConfigStatus = TypeOf<typeof NodeConfigStatus>;

export const NodeSpec = message("NodeSpec", "What a node is told.", {
  podCIDR: optional(1, string, "Range its pods get addresses from."),
  podCIDRs: optional(
    7,
    list(string),
    "The same for each address family; the first equals podCIDR.",
    patchMerge(),
  ),
  providerID: optional(3, string, "Its identity at the cloud provider, as provider://id."),
  unschedulable: optional(4, bool, "Keeps new pods away."),
  taints: optional(5, list(Taint), "Taints on the node."),
  configSource: optional(6, NodeConfigSource, "No longer used."),
  externalID: optional(2, string, "No longer used."),
});
export type NodeSpec = TypeOf<typeof NodeSpec>;

export const DaemonEndpoint = message("DaemonEndpoint", "A port that a daemon listens on.", {
  Port: required(1, int32, "The port."),
});
export type DaemonEndpoint = TypeOf<typeof DaemonEndpoint>;

export const NodeDaemonEndpoints = message("NodeDaemonEndpoints", "Where the daemons of a node listen.", {
  ...dialectFields({
    nodeagentEndpoint: embedded(1, DaemonEndpoint, "Where the node agent listens."),
  }),
});
export type NodeDaemonEndpoints = TypeOf<typeof NodeDaemonEndpoints>;

export const NodeSystemInfo = message("NodeSystemInfo", "What the machine and its software are.", {
  machineID: required(1, string, "Identity of the installed system."),
  systemUUID: required(2, string, "Identity of the hardware."),
  bootID: required(3, string, "Identity of the present boot."),
  kernelVersion: required(4, string, "Version of the kernel."),
  osImage: required(5, string, "The installed system, in words."),
  containerRuntimeVersion: required(6, string, "Name and version of the container runtime."),
  ...dialectFields({
    nodeagentVersion: required(7, string, "Version of the node agent."),
    orchProxyVersion: required(8, string, "Version of the service proxy."),
  }),
  operatingSystem: required(9, string, "linux or windows."),
  architecture: required(10, string, "Such as amd64 or arm64."),
});
export type NodeSystemInfo = TypeOf<typeof NodeSystemInfo>;

export const AttachedVolume = message("AttachedVolume", "A volume attached to a node.", {
  name: required(1, UniqueVolumeName, "Name of the volume."),
  devicePath: required(2, string, "Path of its device."),
});
export type AttachedVolume = TypeOf<typeof AttachedVolume>;

export const ContainerImage = message("ContainerImage", "An image on a node.", {
  names: required(1, list(string), "Names the image is known by.", { published: "optional" }),
  sizeBytes: optional(2, int64, "Its size."),
});
export type ContainerImage = TypeOf<typeof ContainerImage>;

export const NodeCondition = message("NodeCondition", "One aspect of a node's state.", {
  type: required(1, named("NodeConditionType", string), "What the condition is about."),
  status: required(2, ConditionStatus, "True, False or Unknown."),
  lastHeartbeatTime: embedded(3, time, "When the condition was last confirmed."),
  lastTransitionTime: embedded(4, time, "When the status last changed."),
  reason: optional(5, string, "One CamelCase word for the last change."),
  message: optional(6, string, "The last change, for people."),
});
export type NodeCondition = TypeOf<typeof NodeCondition>;

export const NodeAddress = message("NodeAddress", "One address of a node.", {
  type: required(
    1,
    named("NodeAddressType", string),
    "Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.",
  ),
  address: required(2, string, "The address."),
});
export type NodeAddress = TypeOf<typeof NodeAddress>;

export const NodeStatus = message("NodeStatus", "What a node reports.", {
  capacity: optional(1, ResourceList, "All that it has."),
  allocatable: optional(2, ResourceList, "What of that pods may use."),
  phase: optional(
    3,
    named("NodePhase", string),
    "No longer used.",
    openEnum("Pending", "Running", "Terminated"),
  ),
  conditions: optional(
    4,
    list(NodeCondition),
    "Ready, short of memory, disk or process ids, and the like.",
    patchMerge("type"),
  ),
  addresses: optional(5, list(NodeAddress), "How it can be reached.", patchMerge("type")),
  daemonEndpoints: embedded(6, NodeDaemonEndpoints, "Where its daemons listen."),
  nodeInfo: embedded(7, NodeSystemInfo, "What the machine and its software are."),
  images: optional(8, list(ContainerImage), "Images on it."),
  volumesInUse: optional(9, list(UniqueVolumeName), "Volumes mounted on it."),
  volumesAttached: optional(10, list(AttachedVolume), "Volumes attached to it."),
  config: optional(11, NodeConfigStatus, "No longer used."),
});
export type NodeStatus = TypeOf<typeof NodeStatus>;

export const Node = kind("Node", "A machine that runs pods.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, NodeSpec, "What it is told."),
  status: embedded(3, NodeStatus, "What it reports."),
});
export type Node = TypeOf<typeof Node>;
