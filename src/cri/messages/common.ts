// Types shared by several CRI messages.
import { bool, int32, int64, list, map, optional, string, uint32, uint64 } from "#schema";
import { type MessageOf, optionalEnum, message } from "./declarations.ts";

/** Values of the CRI enum NamespaceMode. */
export const namespaceMode = { pod: 0, container: 1, node: 2, target: 3 } as const;
const namespaceModes = ["POD", "CONTAINER", "NODE", "TARGET"];
export const mountPropagation = { private: 0, hostToContainer: 1, bidirectional: 2 } as const;
export const profileType = { runtimeDefault: 0, unconfined: 1, localhost: 2 } as const;
export const protocol = { tcp: 0, udp: 1, sctp: 2 } as const;

export const Int64Value = message("Int64Value", "A number that can be absent.", {
  value: optional(1, int64, "The number."),
});
export const UInt64Value = message("UInt64Value", "A count that can be absent.", {
  value: optional(1, uint64, "The count."),
});

export const IDMapping = message("IDMapping", "A span of user or group ids inside and outside.", {
  hostId: optional(1, uint32, "The first id on the host."),
  containerId: optional(2, uint32, "The first id in the container."),
  length: optional(3, uint32, "How many."),
});
export const UserNamespace = message("UserNamespace", "The user namespace of a pod.", {
  mode: optionalEnum(1, namespaceModes, "Whose it is."),
  uids: optional(2, list(IDMapping), "User ids."),
  gids: optional(3, list(IDMapping), "Group ids."),
});
export type UserNamespace = MessageOf<typeof UserNamespace>;
export const NamespaceOption = message(
  "NamespaceOption",
  "Whose namespaces a sandbox or container lives in.",
  {
    network: optionalEnum(1, namespaceModes, "The network's."),
    pid: optionalEnum(2, namespaceModes, "The processes'."),
    ipc: optionalEnum(3, namespaceModes, "The shared memory's."),
    targetId: optional(4, string, "The container whose processes are shared, for TARGET."),
    usernsOptions: optional(5, UserNamespace, "The users'."),
  },
);
export type NamespaceOption = MessageOf<typeof NamespaceOption>;

export const SELinuxOption = message("SELinuxOption", "A label of that security system.", {
  user: optional(1, string, "User part."),
  role: optional(2, string, "Role part."),
  type: optional(3, string, "Type part."),
  level: optional(4, string, "Level part."),
});
export const SecurityProfile = message("SecurityProfile", "A system call or access profile.", {
  profileType: optionalEnum(1, ["RuntimeDefault", "Unconfined", "Localhost"], "Where it comes from."),
  localhostRef: optional(2, string, "Its name or path on the node, for Localhost."),
});
export type SecurityProfile = MessageOf<typeof SecurityProfile>;

export const HugepageLimit = message("HugepageLimit", "How much of one page size may be used.", {
  pageSize: optional(1, string, "The size, as `2MB`."),
  limit: optional(2, uint64, "Bytes."),
});
export const LinuxContainerResources = message("LinuxContainerResources", "What a container may use.", {
  cpuPeriod: optional(1, int64, "Microseconds over which processor time is counted."),
  cpuQuota: optional(2, int64, "Microseconds of processor time in that period."),
  cpuShares: optional(3, int64, "Weight against others."),
  memoryLimitInBytes: optional(4, int64, "Memory."),
  oomScoreAdj: optional(5, int64, "How early it goes when memory runs out."),
  cpusetCpus: optional(6, string, "The processors it may use."),
  cpusetMems: optional(7, string, "The memory nodes it may use."),
  hugepageLimits: optional(8, list(HugepageLimit), "Huge pages by size."),
  unified: optional(9, map(string), "Settings of the second control group version, by file."),
  memorySwapLimitInBytes: optional(10, int64, "Memory and swap together."),
});
export type LinuxContainerResources = MessageOf<typeof LinuxContainerResources>;

export const DNSConfig = message("DNSConfig", "What goes into resolv.conf.", {
  servers: optional(1, list(string), "Name servers."),
  searches: optional(2, list(string), "Search domains."),
  options: optional(3, list(string), "Resolver options."),
});
export const PortMapping = message("PortMapping", "A port of the node that leads into the sandbox.", {
  protocol: optionalEnum(1, ["TCP", "UDP", "SCTP"], "The protocol."),
  containerPort: optional(2, int32, "The port inside."),
  hostPort: optional(3, int32, "The port of the node."),
  hostIp: optional(4, string, "The address of the node; all when empty."),
});
export type PortMapping = MessageOf<typeof PortMapping>;
export const Mount = message("Mount", "Something of the host inside a container.", {
  containerPath: optional(1, string, "Where it appears."),
  hostPath: optional(2, string, "What it is."),
  readonly: optional(3, bool, "Whether it cannot be written."),
  selinuxRelabel: optional(4, bool, "Whether it gets the container's label."),
  propagation: optionalEnum(
    5,
    ["PROPAGATION_PRIVATE", "PROPAGATION_HOST_TO_CONTAINER", "PROPAGATION_BIDIRECTIONAL"],
    "Whether later mounts pass through.",
  ),
  uidMappings: optional(6, list(IDMapping), "User ids."),
  gidMappings: optional(7, list(IDMapping), "Group ids."),
});
export type Mount = MessageOf<typeof Mount>;

export const KeyValue = message("KeyValue", "One variable of the environment.", {
  key: optional(1, string, "Its name."),
  value: optional(2, string, "Its value."),
});
export const ImageSpec = message("ImageSpec", "Which image.", {
  image: optional(1, string, "Its name, digest or id."),
  annotations: optional(2, map(string), "What the runtime is told besides."),
});
export type ImageSpec = MessageOf<typeof ImageSpec>;
