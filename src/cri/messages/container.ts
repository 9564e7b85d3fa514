// CRI messages for containers: configuration, status, and operations.
import { bool, int32, int64, list, map, optional, rawBytes, required, string, uint32 } from "#schema";
import {
  ImageSpec,
  Int64Value,
  KeyValue,
  LinuxContainerResources,
  Mount,
  NamespaceOption,
  SELinuxOption,
  SecurityProfile,
} from "./common.ts";
import { type MessageOf, message, nanoseconds, requiredEnum } from "./declarations.ts";

export const containerState = { created: 0, running: 1, exited: 2, unknown: 3 } as const;
const containerStates = ["CONTAINER_CREATED", "CONTAINER_RUNNING", "CONTAINER_EXITED", "CONTAINER_UNKNOWN"];

const Capability = message("Capability", "Linux capabilities of a container.", {
  addCapabilities: optional(1, list(string), "Capabilities to add to the default set."),
  dropCapabilities: optional(2, list(string), "Capabilities to drop."),
  addAmbientCapabilities: optional(3, list(string), "Ambient capabilities to add."),
});
export const LinuxContainerSecurityContext = message(
  "LinuxContainerSecurityContext",
  "Security context of a container.",
  {
    capabilities: optional(1, Capability, "Capabilities."),
    privileged: optional(2, bool, "Whether the container is privileged."),
    namespaceOptions: optional(3, NamespaceOption, "Namespace modes."),
    selinuxOptions: optional(4, SELinuxOption, "SELinux label."),
    runAsUser: optional(5, Int64Value, "Numeric user ID."),
    runAsUsername: optional(6, string, "User name."),
    readonlyRootfs: optional(7, bool, "Whether the root file system is read-only."),
    supplementalGroups: optional(8, list(int64), "Supplemental group IDs."),
    apparmorProfile: optional(9, string, "AppArmor profile (deprecated form)."),
    seccompProfilePath: optional(10, string, "Seccomp profile path (deprecated form)."),
    noNewPrivs: optional(11, bool, "Whether no_new_privs is set."),
    runAsGroup: optional(12, Int64Value, "Group ID."),
    maskedPaths: optional(13, list(string), "Paths that are masked."),
    readonlyPaths: optional(14, list(string), "Paths that are read-only."),
    seccomp: optional(15, SecurityProfile, "Seccomp profile."),
    apparmor: optional(16, SecurityProfile, "AppArmor profile."),
  },
);
export type LinuxContainerSecurityContext = MessageOf<typeof LinuxContainerSecurityContext>;
const LinuxContainerConfig = message("LinuxContainerConfig", "Linux-specific configuration.", {
  resources: optional(1, LinuxContainerResources, "Linux resources."),
  securityContext: optional(2, LinuxContainerSecurityContext, "Security context."),
});
export const ContainerMetadata = message("ContainerMetadata", "Identifies a container within a sandbox.", {
  name: optional(1, string, "Container name in the pod."),
  attempt: optional(2, uint32, "Attempt number of the container."),
});
export type ContainerMetadata = MessageOf<typeof ContainerMetadata>;
export const Device = message("Device", "A host device.", {
  containerPath: optional(1, string, "Path in the container."),
  hostPath: optional(2, string, "Path on the host."),
  permissions: optional(3, string, "Cgroup permissions: r, w, m."),
});
export type Device = MessageOf<typeof Device>;
const CDIDevice = message("CDIDevice", "A CDI device.", {
  name: optional(1, string, "Fully qualified CDI device name."),
});
export const ContainerConfig = message("ContainerConfig", "Configuration of a container.", {
  metadata: optional(1, ContainerMetadata, "Container metadata."),
  image: optional(2, ImageSpec, "Image to run."),
  command: optional(3, list(string), "Overrides the image's entrypoint."),
  args: optional(4, list(string), "Overrides the image's arguments."),
  workingDir: optional(5, string, "Working directory."),
  envs: optional(6, list(KeyValue), "Environment variables."),
  mounts: optional(7, list(Mount), "Mounts."),
  devices: optional(8, list(Device), "Host devices."),
  labels: optional(9, map(string), "Labels for filtering."),
  annotations: optional(10, map(string), "Annotations stored with the container."),
  logPath: optional(11, string, "Log path relative to the sandbox's log directory."),
  stdin: optional(12, bool, "Whether stdin is open."),
  stdinOnce: optional(13, bool, "Whether stdin is closed after the first attach session."),
  tty: optional(14, bool, "Whether a TTY is allocated."),
  linux: optional(15, LinuxContainerConfig, "Linux-specific configuration."),
  cdiDevices: optional(17, list(CDIDevice), "CDI devices."),
});
export type ContainerConfig = MessageOf<typeof ContainerConfig>;

const ContainerResources = message("ContainerResources", "Resources of a container.", {
  linux: optional(1, LinuxContainerResources, "Linux resources."),
});
export const ContainerStatus = message("ContainerStatus", "Status of a container.", {
  id: required(1, string, "Container ID."),
  metadata: optional(2, ContainerMetadata, "Container metadata."),
  state: requiredEnum(3, containerStates, "Container state."),
  createdAt: required(4, nanoseconds, "Creation time."),
  startedAt: required(5, nanoseconds, "Start time."),
  finishedAt: required(6, nanoseconds, "Finish time."),
  exitCode: required(7, int32, "Exit code."),
  image: optional(8, ImageSpec, "Requested image."),
  imageRef: required(9, string, "Reference of the resolved image."),
  reason: required(10, string, "Brief CamelCase reason of the state."),
  message: required(11, string, "Human-readable message."),
  labels: required(12, map(string), "Labels for filtering."),
  annotations: required(13, map(string), "Annotations stored with the container."),
  mounts: required(14, list(Mount), "Mounts."),
  logPath: required(15, string, "Path of the log file."),
  resources: optional(16, ContainerResources, "Linux resources."),
});
export type ContainerStatus = MessageOf<typeof ContainerStatus>;

const containerIdOnly = { containerId: optional(1, string, "Container ID.") };
const verbose = optional(2, bool, "Whether to return runtime-specific information.");
export const CreateContainerResponse = message("CreateContainerResponse", "Response of CreateContainer.", {
  containerId: required(1, string, "ID of the created container."),
});
export const StartContainerRequest = message("StartContainerRequest", "Starts a container.", containerIdOnly);
export const StartContainerResponse = message("StartContainerResponse", "Response of StartContainer.", {});
export const StopContainerRequest = message("StopContainerRequest", "Stops a container.", {
  ...containerIdOnly,
  timeout: optional(2, int64, "Grace period in seconds before the container is killed."),
});
export const StopContainerResponse = message("StopContainerResponse", "Response of StopContainer.", {});
export const RemoveContainerRequest = message(
  "RemoveContainerRequest",
  "Removes a container.",
  containerIdOnly,
);
export const RemoveContainerResponse = message("RemoveContainerResponse", "Response of RemoveContainer.", {});
export const ContainerStatusRequest = message(
  "ContainerStatusRequest",
  "Requests the status of a container.",
  {
    ...containerIdOnly,
    verbose,
  },
);
export const ContainerStatusResponse = message("ContainerStatusResponse", "Response of ContainerStatus.", {
  status: optional(1, ContainerStatus, "Container status."),
  info: required(2, map(string), "Runtime-specific information."),
});
export const UpdateContainerResourcesRequest = message(
  "UpdateContainerResourcesRequest",
  "Updates the resources of a container.",
  {
    ...containerIdOnly,
    linux: optional(2, LinuxContainerResources, "Linux resources."),
    annotations: optional(4, map(string), "Additional metadata for the runtime."),
  },
);
export const UpdateContainerResourcesResponse = message(
  "UpdateContainerResourcesResponse",
  "Response of UpdateContainerResources.",
  {},
);
export const ReopenContainerLogRequest = message(
  "ReopenContainerLogRequest",
  "Reopens the log file of a container after rotation.",
  containerIdOnly,
);
export const ReopenContainerLogResponse = message(
  "ReopenContainerLogResponse",
  "Response of ReopenContainerLog.",
  {},
);
export const CheckpointContainerRequest = message(
  "CheckpointContainerRequest",
  "Checkpoints a running container to a file.",
  {
    ...containerIdOnly,
    location: optional(2, string, "Path of the checkpoint file."),
    timeout: optional(3, int64, "Timeout in seconds."),
  },
);
export const CheckpointContainerResponse = message(
  "CheckpointContainerResponse",
  "Response of CheckpointContainer.",
  {},
);

const ContainerStateValue = message("ContainerStateValue", "A container state to filter by.", {
  state: optional(1, int32, "Container state.", { enum: containerStates }),
});
export const ContainerFilter = message("ContainerFilter", "Filters containers.", {
  id: optional(1, string, "Container ID."),
  state: optional(2, ContainerStateValue, "Container state."),
  podSandboxId: optional(3, string, "Sandbox ID."),
  labelSelector: optional(4, map(string), "Labels that must all match."),
});
export type ContainerFilter = MessageOf<typeof ContainerFilter>;
export const ListContainersRequest = message("ListContainersRequest", "Lists containers.", {
  filter: optional(1, ContainerFilter, "Filter."),
});
export const Container = message("Container", "A container as listed.", {
  id: required(1, string, "Container ID."),
  podSandboxId: required(2, string, "Sandbox ID."),
  metadata: optional(3, ContainerMetadata, "Container metadata."),
  image: optional(4, ImageSpec, "Requested image."),
  imageRef: required(5, string, "Reference of the resolved image."),
  state: requiredEnum(6, containerStates, "Container state."),
  createdAt: required(7, nanoseconds, "Creation time."),
  labels: required(8, map(string), "Labels for filtering."),
  annotations: required(9, map(string), "Annotations stored with the container."),
});
export type Container = MessageOf<typeof Container>;
export const ListContainersResponse = message("ListContainersResponse", "Response of ListContainers.", {
  containers: required(1, list(Container), "Containers in no particular order."),
});

export const ExecSyncRequest = message("ExecSyncRequest", "Runs a command in a container synchronously.", {
  ...containerIdOnly,
  cmd: optional(2, list(string), "Command and arguments."),
  timeout: optional(3, int64, "Timeout in seconds; 0 means unlimited."),
});
export const ExecSyncResponse = message("ExecSyncResponse", "Response of ExecSync.", {
  stdout: required(1, rawBytes, "Captured standard output."),
  stderr: required(2, rawBytes, "Captured standard error."),
  exitCode: required(3, int32, "Exit code."),
});
export type ExecSyncResponse = MessageOf<typeof ExecSyncResponse>;
export const ExecRequest = message(
  "ExecRequest",
  "Requests a streaming URL to run a command in a container.",
  {
    ...containerIdOnly,
    cmd: optional(2, list(string), "Command and arguments."),
    tty: optional(3, bool, "Whether to allocate a TTY."),
    stdin: optional(4, bool, "Whether to stream stdin."),
    stdout: optional(5, bool, "Whether to stream stdout."),
    stderr: optional(6, bool, "Whether to stream stderr; not allowed with a TTY."),
  },
);
export type ExecRequest = MessageOf<typeof ExecRequest>;
export const AttachRequest = message("AttachRequest", "Requests a streaming URL to attach to a container.", {
  ...containerIdOnly,
  stdin: optional(2, bool, "Whether to stream stdin."),
  tty: optional(3, bool, "Whether to allocate a TTY."),
  stdout: optional(4, bool, "Whether to stream stdout."),
  stderr: optional(5, bool, "Whether to stream stderr; not allowed with a TTY."),
});
export type AttachRequest = MessageOf<typeof AttachRequest>;
/** The response of Exec, Attach and PortForward. */
export const StreamingResponse = message("StreamingResponse", "Response of Exec, Attach and PortForward.", {
  url: required(1, string, "URL of the streaming server."),
});
