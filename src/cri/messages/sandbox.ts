// CRI messages for pod sandboxes.
import { bool, int32, int64, list, map, optional, required, string, uint32 } from "#schema";
import {
  DNSConfig,
  Int64Value,
  LinuxContainerResources,
  NamespaceOption,
  PortMapping,
  SELinuxOption,
  SecurityProfile,
} from "./common.ts";
import { ContainerStatus } from "./container.ts";
import { type MessageOf, message, nanoseconds, requiredEnum } from "./declarations.ts";

export const sandboxState = { ready: 0, notReady: 1 } as const;
const sandboxStates = ["SANDBOX_READY", "SANDBOX_NOTREADY"];

export const PodSandboxMetadata = message("PodSandboxMetadata", "What makes a sandbox's name.", {
  name: optional(1, string, "The pod's name."),
  uid: optional(2, string, "The pod's uid."),
  namespace: optional(3, string, "The pod's namespace."),
  attempt: optional(4, uint32, "The how manyth sandbox of the pod."),
});
export type PodSandboxMetadata = MessageOf<typeof PodSandboxMetadata>;

const LinuxSandboxSecurityContext = message(
  "LinuxSandboxSecurityContext",
  "Security of the sandbox itself.",
  {
    namespaceOptions: optional(1, NamespaceOption, "Its namespaces."),
    selinuxOptions: optional(2, SELinuxOption, "Its label."),
    runAsUser: optional(3, Int64Value, "Its user."),
    readonlyRootfs: optional(4, bool, "Whether its files cannot be written."),
    supplementalGroups: optional(5, list(int64), "More groups."),
    privileged: optional(6, bool, "Whether privileged containers may live in it."),
    seccompProfilePath: optional(7, string, "The older form of the system call profile."),
    runAsGroup: optional(8, Int64Value, "Its group."),
    seccomp: optional(9, SecurityProfile, "System call profile."),
    apparmor: optional(10, SecurityProfile, "Access profile."),
  },
);
const LinuxPodSandboxConfig = message("LinuxPodSandboxConfig", "What is particular to Linux.", {
  cgroupParent: optional(1, string, "The control group its containers live below."),
  securityContext: optional(2, LinuxSandboxSecurityContext, "Security."),
  sysctls: optional(3, map(string), "Kernel settings."),
  overhead: optional(4, LinuxContainerResources, "What the sandbox itself uses."),
  resources: optional(5, LinuxContainerResources, "What its containers use together."),
});
export const PodSandboxConfig = message("PodSandboxConfig", "What a sandbox shall be.", {
  metadata: optional(1, PodSandboxMetadata, "Its name."),
  hostname: optional(2, string, "The host name inside."),
  logDirectory: optional(3, string, "Where its containers' logs go."),
  dnsConfig: optional(4, DNSConfig, "Name resolution."),
  portMappings: optional(5, list(PortMapping), "Ports of the node."),
  labels: optional(6, map(string), "To find it by."),
  annotations: optional(7, map(string), "Kept with it."),
  linux: optional(8, LinuxPodSandboxConfig, "What is particular to Linux."),
});
export type PodSandboxConfig = MessageOf<typeof PodSandboxConfig>;

export const RunPodSandboxRequest = message("RunPodSandboxRequest", "Makes and starts a sandbox.", {
  config: optional(1, PodSandboxConfig, "What it shall be."),
  runtimeHandler: optional(2, string, "The named way of running it; empty for the ordinary one."),
});
export const RunPodSandboxResponse = message("RunPodSandboxResponse", "A sandbox runs.", {
  podSandboxId: required(1, string, "Its id."),
});
export const StopPodSandboxRequest = message("StopPodSandboxRequest", "Stops a sandbox and all in it.", {
  podSandboxId: optional(1, string, "Which."),
});
export const StopPodSandboxResponse = message("StopPodSandboxResponse", "Stopped.", {});
export const RemovePodSandboxRequest = message(
  "RemovePodSandboxRequest",
  "Removes a sandbox and all in it.",
  { podSandboxId: optional(1, string, "Which.") },
);
export const RemovePodSandboxResponse = message("RemovePodSandboxResponse", "Removed.", {});

const PodIP = message("PodIP", "An address of a pod.", { ip: required(1, string, "The address.") });
const PodSandboxNetworkStatus = message("PodSandboxNetworkStatus", "Addresses of a sandbox.", {
  ip: required(1, string, "The first address; empty on the node's network."),
  additionalIps: required(2, list(PodIP), "The others."),
});
const Namespace = message("Namespace", "Namespaces in use.", {
  options: optional(2, NamespaceOption, "Whose they are."),
});
const LinuxPodSandboxStatus = message("LinuxPodSandboxStatus", "What is particular to Linux.", {
  namespaces: optional(1, Namespace, "Namespaces in use."),
});
export const PodSandboxStatus = message("PodSandboxStatus", "How a sandbox is.", {
  id: required(1, string, "Its id."),
  metadata: optional(2, PodSandboxMetadata, "Its name."),
  state: requiredEnum(3, sandboxStates, "Whether it is ready."),
  createdAt: required(4, nanoseconds, "When it was made."),
  network: optional(5, PodSandboxNetworkStatus, "Its addresses."),
  linux: optional(6, LinuxPodSandboxStatus, "What is particular to Linux."),
  labels: required(7, map(string), "To find it by."),
  annotations: required(8, map(string), "Kept with it."),
  runtimeHandler: required(9, string, "The way it is run."),
});
export type PodSandboxStatus = MessageOf<typeof PodSandboxStatus>;
export const PodSandboxStatusRequest = message("PodSandboxStatusRequest", "Asks how a sandbox is.", {
  podSandboxId: optional(1, string, "Which."),
  verbose: optional(2, bool, "Whether to tell what is particular to the runtime."),
});
export const PodSandboxStatusResponse = message("PodSandboxStatusResponse", "How a sandbox is.", {
  status: optional(1, PodSandboxStatus, "The sandbox."),
  info: required(2, map(string), "What is particular to the runtime."),
  containersStatuses: required(3, list(ContainerStatus), "Its containers, from runtimes that send events."),
  timestamp: required(4, nanoseconds, "When this was true."),
});

const PodSandboxStateValue = message("PodSandboxStateValue", "A state to look for.", {
  state: optional(1, int32, "The state.", { enum: sandboxStates }),
});
export const PodSandboxFilter = message("PodSandboxFilter", "Which sandboxes.", {
  id: optional(1, string, "With this id."),
  state: optional(2, PodSandboxStateValue, "In this state."),
  labelSelector: optional(3, map(string), "With all these labels."),
});
export type PodSandboxFilter = MessageOf<typeof PodSandboxFilter>;
export const ListPodSandboxRequest = message("ListPodSandboxRequest", "Asks for sandboxes.", {
  filter: optional(1, PodSandboxFilter, "Which."),
});
export const PodSandbox = message("PodSandbox", "A sandbox in a list.", {
  id: required(1, string, "Its id."),
  metadata: optional(2, PodSandboxMetadata, "Its name."),
  state: requiredEnum(3, sandboxStates, "Whether it is ready."),
  createdAt: required(4, nanoseconds, "When it was made."),
  labels: required(5, map(string), "To find it by."),
  annotations: required(6, map(string), "Kept with it."),
  runtimeHandler: required(7, string, "The way it is run."),
});
export type PodSandbox = MessageOf<typeof PodSandbox>;
export const ListPodSandboxResponse = message("ListPodSandboxResponse", "Sandboxes.", {
  items: required(1, list(PodSandbox), "In no order."),
});

export const PortForwardRequest = message("PortForwardRequest", "Asks for a way to ports of a sandbox.", {
  podSandboxId: optional(1, string, "Which."),
  port: optional(2, list(int32), "The ports."),
});
