// Types shared by several CRI messages.
import { bool, int32, int64, list, map, optional, string, uint32, uint64 } from "#schema";
import { type MessageOf, optionalEnum, message } from "./declarations.ts";

/** Values of the CRI enum NamespaceMode. */
export const namespaceMode = { pod: 0, container: 1, node: 2, target: 3 } as const;
const namespaceModes = ["POD", "CONTAINER", "NODE", "TARGET"];
export const mountPropagation = { private: 0, hostToContainer: 1, bidirectional: 2 } as const;
export const profileType = { runtimeDefault: 0, unconfined: 1, localhost: 2 } as const;
export const protocol = { tcp: 0, udp: 1, sctp: 2 } as const;

export const Int64Value = message("Int64Value", "An optional signed integer.", {
  value: optional(1, int64, "The value."),
});
export const UInt64Value = message("UInt64Value", "An optional unsigned integer.", {
  value: optional(1, uint64, "The value."),
});

export const IDMapping = message(
  "IDMapping",
  "Maps a range of user or group IDs between host and container.",
  {
    hostId: optional(1, uint32, "First ID on the host."),
    containerId: optional(2, uint32, "First ID in the container."),
    length: optional(3, uint32, "Number of IDs."),
  },
);
export const UserNamespace = message("UserNamespace", "The user namespace of a pod.", {
  mode: optionalEnum(1, namespaceModes, "Namespace mode."),
  uids: optional(2, list(IDMapping), "User ID mappings."),
  gids: optional(3, list(IDMapping), "Group ID mappings."),
});
export type UserNamespace = MessageOf<typeof UserNamespace>;
export const NamespaceOption = message("NamespaceOption", "Namespace modes of a sandbox or container.", {
  network: optionalEnum(1, namespaceModes, "Network namespace."),
  pid: optionalEnum(2, namespaceModes, "PID namespace."),
  ipc: optionalEnum(3, namespaceModes, "IPC namespace."),
  targetId: optional(4, string, "Container whose PID namespace is shared, for mode TARGET."),
  usernsOptions: optional(5, UserNamespace, "User namespace."),
});
export type NamespaceOption = MessageOf<typeof NamespaceOption>;

export const SELinuxOption = message("SELinuxOption", "An SELinux label.", {
  user: optional(1, string, "User."),
  role: optional(2, string, "Role."),
  type: optional(3, string, "Type."),
  level: optional(4, string, "Level."),
});
export const SecurityProfile = message("SecurityProfile", "A seccomp or AppArmor profile.", {
  profileType: optionalEnum(1, ["RuntimeDefault", "Unconfined", "Localhost"], "Source of the profile."),
  localhostRef: optional(2, string, "Name or path of the profile on the node, for Localhost."),
});
export type SecurityProfile = MessageOf<typeof SecurityProfile>;

export const HugepageLimit = message("HugepageLimit", "Limit of one huge page size.", {
  pageSize: optional(1, string, "Page size, such as `2MB`."),
  limit: optional(2, uint64, "Limit in bytes."),
});
export const LinuxContainerResources = message("LinuxContainerResources", "Linux resources of a container.", {
  cpuPeriod: optional(1, int64, "CFS period in microseconds."),
  cpuQuota: optional(2, int64, "CFS quota in microseconds per period."),
  cpuShares: optional(3, int64, "CPU shares (relative weight)."),
  memoryLimitInBytes: optional(4, int64, "Memory limit in bytes."),
  oomScoreAdj: optional(5, int64, "OOM score adjustment."),
  cpusetCpus: optional(6, string, "CPUs the container may use."),
  cpusetMems: optional(7, string, "NUMA nodes the container may use."),
  hugepageLimits: optional(8, list(HugepageLimit), "Limits of huge pages by size."),
  unified: optional(9, map(string), "Cgroup v2 settings by file name."),
  memorySwapLimitInBytes: optional(10, int64, "Limit of memory plus swap in bytes."),
});
export type LinuxContainerResources = MessageOf<typeof LinuxContainerResources>;

export const DNSConfig = message("DNSConfig", "Content of resolv.conf.", {
  servers: optional(1, list(string), "Name servers."),
  searches: optional(2, list(string), "Search domains."),
  options: optional(3, list(string), "Resolver options."),
});
export const PortMapping = message("PortMapping", "Maps a host port to a port of the sandbox.", {
  protocol: optionalEnum(1, ["TCP", "UDP", "SCTP"], "Protocol."),
  containerPort: optional(2, int32, "Port in the sandbox."),
  hostPort: optional(3, int32, "Port on the host."),
  hostIp: optional(4, string, "Host IP; empty means all."),
});
export type PortMapping = MessageOf<typeof PortMapping>;
export const Mount = message("Mount", "Mounts a host path into a container.", {
  containerPath: optional(1, string, "Path in the container."),
  hostPath: optional(2, string, "Path on the host."),
  readonly: optional(3, bool, "Whether the mount is read-only."),
  selinuxRelabel: optional(4, bool, "Whether the SELinux label of the container is applied."),
  propagation: optionalEnum(
    5,
    ["PROPAGATION_PRIVATE", "PROPAGATION_HOST_TO_CONTAINER", "PROPAGATION_BIDIRECTIONAL"],
    "Mount propagation.",
  ),
  uidMappings: optional(6, list(IDMapping), "User ID mappings."),
  gidMappings: optional(7, list(IDMapping), "Group ID mappings."),
});
export type Mount = MessageOf<typeof Mount>;

export const KeyValue = message("KeyValue", "An environment variable.", {
  key: optional(1, string, "Name."),
  value: optional(2, string, "Value."),
});
export const ImageSpec = message("ImageSpec", "Identifies an image.", {
  image: optional(1, string, "Name, digest or ID."),
  annotations: optional(2, map(string), "Additional metadata for the runtime."),
});
export type ImageSpec = MessageOf<typeof ImageSpec>;
