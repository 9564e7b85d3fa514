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

export const PodSandboxMetadata = message("PodSandboxMetadata", "Identifies a sandbox.", {
  name: optional(1, string, "Pod name."),
  uid: optional(2, string, "Pod uid."),
  namespace: optional(3, string, "Pod namespace."),
  attempt: optional(4, uint32, "Attempt number of the sandbox."),
});
export type PodSandboxMetadata = MessageOf<typeof PodSandboxMetadata>;

const LinuxSandboxSecurityContext = message("LinuxSandboxSecurityContext", "Security context of a sandbox.", {
  namespaceOptions: optional(1, NamespaceOption, "Namespace modes."),
  selinuxOptions: optional(2, SELinuxOption, "SELinux label."),
  runAsUser: optional(3, Int64Value, "User ID."),
  readonlyRootfs: optional(4, bool, "Whether the root file system is read-only."),
  supplementalGroups: optional(5, list(int64), "Supplemental group IDs."),
  privileged: optional(6, bool, "Whether the sandbox may contain privileged containers."),
  seccompProfilePath: optional(7, string, "Seccomp profile path (deprecated form)."),
  runAsGroup: optional(8, Int64Value, "Group ID."),
  seccomp: optional(9, SecurityProfile, "Seccomp profile."),
  apparmor: optional(10, SecurityProfile, "AppArmor profile."),
});
const LinuxPodSandboxConfig = message("LinuxPodSandboxConfig", "Linux-specific configuration of a sandbox.", {
  cgroupParent: optional(1, string, "Parent cgroup of the sandbox."),
  securityContext: optional(2, LinuxSandboxSecurityContext, "Security context."),
  sysctls: optional(3, map(string), "Sysctls."),
  overhead: optional(4, LinuxContainerResources, "Overhead of the sandbox."),
  resources: optional(5, LinuxContainerResources, "Total resources of its containers."),
});
export const PodSandboxConfig = message("PodSandboxConfig", "Configuration of a sandbox.", {
  metadata: optional(1, PodSandboxMetadata, "Sandbox metadata."),
  hostname: optional(2, string, "Host name of the sandbox."),
  logDirectory: optional(3, string, "Log directory of its containers."),
  dnsConfig: optional(4, DNSConfig, "DNS configuration."),
  portMappings: optional(5, list(PortMapping), "Host port mappings."),
  labels: optional(6, map(string), "Labels for filtering."),
  annotations: optional(7, map(string), "Annotations stored with the sandbox."),
  linux: optional(8, LinuxPodSandboxConfig, "Linux-specific part."),
});
export type PodSandboxConfig = MessageOf<typeof PodSandboxConfig>;

export const RunPodSandboxRequest = message("RunPodSandboxRequest", "Creates and starts a sandbox.", {
  config: optional(1, PodSandboxConfig, "Sandbox configuration."),
  runtimeHandler: optional(2, string, "Runtime handler; empty means the default."),
});
export const RunPodSandboxResponse = message("RunPodSandboxResponse", "Response of RunPodSandbox.", {
  podSandboxId: required(1, string, "ID of the created sandbox."),
});
export const StopPodSandboxRequest = message("StopPodSandboxRequest", "Stops a sandbox and its containers.", {
  podSandboxId: optional(1, string, "Sandbox ID."),
});
export const StopPodSandboxResponse = message("StopPodSandboxResponse", "Response of StopPodSandbox.", {});
export const RemovePodSandboxRequest = message(
  "RemovePodSandboxRequest",
  "Removes a sandbox and its containers.",
  { podSandboxId: optional(1, string, "Sandbox ID.") },
);
export const RemovePodSandboxResponse = message(
  "RemovePodSandboxResponse",
  "Response of RemovePodSandbox.",
  {},
);

const PodIP = message("PodIP", "An IP of a pod.", { ip: required(1, string, "IP.") });
const PodSandboxNetworkStatus = message("PodSandboxNetworkStatus", "Network status of a sandbox.", {
  ip: required(1, string, "Primary IP; empty on the host network."),
  additionalIps: required(2, list(PodIP), "Additional IPs."),
});
const Namespace = message("Namespace", "Namespaces of a sandbox.", {
  options: optional(2, NamespaceOption, "Namespace modes."),
});
const LinuxPodSandboxStatus = message("LinuxPodSandboxStatus", "Linux-specific status of a sandbox.", {
  namespaces: optional(1, Namespace, "Namespaces of a sandbox."),
});
export const PodSandboxStatus = message("PodSandboxStatus", "Status of a sandbox.", {
  id: required(1, string, "Sandbox ID."),
  metadata: optional(2, PodSandboxMetadata, "Sandbox metadata."),
  state: requiredEnum(3, sandboxStates, "Sandbox state."),
  createdAt: required(4, nanoseconds, "Creation time."),
  network: optional(5, PodSandboxNetworkStatus, "Network status."),
  linux: optional(6, LinuxPodSandboxStatus, "Linux-specific part."),
  labels: required(7, map(string), "Labels for filtering."),
  annotations: required(8, map(string), "Annotations stored with the sandbox."),
  runtimeHandler: required(9, string, "Runtime handler."),
});
export type PodSandboxStatus = MessageOf<typeof PodSandboxStatus>;
export const PodSandboxStatusRequest = message(
  "PodSandboxStatusRequest",
  "Requests the status of a sandbox.",
  {
    podSandboxId: optional(1, string, "Sandbox ID."),
    verbose: optional(2, bool, "Whether to return runtime-specific information."),
  },
);
export const PodSandboxStatusResponse = message("PodSandboxStatusResponse", "Response of PodSandboxStatus.", {
  status: optional(1, PodSandboxStatus, "Sandbox status."),
  info: required(2, map(string), "Runtime-specific information."),
  containersStatuses: required(
    3,
    list(ContainerStatus),
    "Statuses of its containers; only from runtimes that support events.",
  ),
  timestamp: required(4, nanoseconds, "Time of the status."),
});

const PodSandboxStateValue = message("PodSandboxStateValue", "A sandbox state to filter by.", {
  state: optional(1, int32, "Sandbox state.", { enum: sandboxStates }),
});
export const PodSandboxFilter = message("PodSandboxFilter", "Filters sandboxes.", {
  id: optional(1, string, "Sandbox ID."),
  state: optional(2, PodSandboxStateValue, "Sandbox state."),
  labelSelector: optional(3, map(string), "Labels that must all match."),
});
export type PodSandboxFilter = MessageOf<typeof PodSandboxFilter>;
export const ListPodSandboxRequest = message("ListPodSandboxRequest", "Lists sandboxes.", {
  filter: optional(1, PodSandboxFilter, "Filter."),
});
export const PodSandbox = message("PodSandbox", "A sandbox as listed.", {
  id: required(1, string, "Sandbox ID."),
  metadata: optional(2, PodSandboxMetadata, "Sandbox metadata."),
  state: requiredEnum(3, sandboxStates, "Sandbox state."),
  createdAt: required(4, nanoseconds, "Creation time."),
  labels: required(5, map(string), "Labels for filtering."),
  annotations: required(6, map(string), "Annotations stored with the sandbox."),
  runtimeHandler: required(7, string, "Runtime handler."),
});
export type PodSandbox = MessageOf<typeof PodSandbox>;
export const ListPodSandboxResponse = message("ListPodSandboxResponse", "Response of ListPodSandbox.", {
  items: required(1, list(PodSandbox), "Sandboxes in no particular order."),
});

export const PortForwardRequest = message(
  "PortForwardRequest",
  "Requests a streaming URL to forward ports of a sandbox.",
  {
    podSandboxId: optional(1, string, "Sandbox ID."),
    port: optional(2, list(int32), "Ports."),
  },
);
