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

const Capability = message("Capability", "What a container may do.", {
  addCapabilities: optional(1, list(string), "Beyond the ordinary."),
  dropCapabilities: optional(2, list(string), "Not even of the ordinary."),
  addAmbientCapabilities: optional(3, list(string), "Also for programs of other users."),
});
export const LinuxContainerSecurityContext = message(
  "LinuxContainerSecurityContext",
  "Security of a container.",
  {
    capabilities: optional(1, Capability, "What it may do."),
    privileged: optional(2, bool, "Whether it may do everything."),
    namespaceOptions: optional(3, NamespaceOption, "Its namespaces."),
    selinuxOptions: optional(4, SELinuxOption, "Its label."),
    runAsUser: optional(5, Int64Value, "Its user, by number."),
    runAsUsername: optional(6, string, "Its user, by name."),
    readonlyRootfs: optional(7, bool, "Whether its files cannot be written."),
    supplementalGroups: optional(8, list(int64), "More groups."),
    apparmorProfile: optional(9, string, "The older form of the access profile."),
    seccompProfilePath: optional(10, string, "The older form of the system call profile."),
    noNewPrivs: optional(11, bool, "Whether programs can never gain rights."),
    runAsGroup: optional(12, Int64Value, "Its group."),
    maskedPaths: optional(13, list(string), "Kernel files it does not see."),
    readonlyPaths: optional(14, list(string), "Kernel files it cannot write."),
    seccomp: optional(15, SecurityProfile, "System call profile."),
    apparmor: optional(16, SecurityProfile, "Access profile."),
  },
);
export type LinuxContainerSecurityContext = MessageOf<typeof LinuxContainerSecurityContext>;
const LinuxContainerConfig = message("LinuxContainerConfig", "What is particular to Linux.", {
  resources: optional(1, LinuxContainerResources, "What it may use."),
  securityContext: optional(2, LinuxContainerSecurityContext, "Security."),
});
export const ContainerMetadata = message("ContainerMetadata", "What makes a container's name.", {
  name: optional(1, string, "Its name in the pod."),
  attempt: optional(2, uint32, "The how manyth container of that name."),
});
export type ContainerMetadata = MessageOf<typeof ContainerMetadata>;
export const Device = message("Device", "A device of the host.", {
  containerPath: optional(1, string, "Where it appears."),
  hostPath: optional(2, string, "What it is."),
  permissions: optional(3, string, "r, w, m."),
});
export type Device = MessageOf<typeof Device>;
const CDIDevice = message("CDIDevice", "A device by its vendor's name.", {
  name: optional(1, string, "The name."),
});
export const ContainerConfig = message("ContainerConfig", "What a container shall be.", {
  metadata: optional(1, ContainerMetadata, "Its name."),
  image: optional(2, ImageSpec, "Its image."),
  command: optional(3, list(string), "Instead of the image's entry point."),
  args: optional(4, list(string), "Instead of the image's arguments."),
  workingDir: optional(5, string, "Where it starts."),
  envs: optional(6, list(KeyValue), "Its environment."),
  mounts: optional(7, list(Mount), "What it sees of the host."),
  devices: optional(8, list(Device), "Devices of the host."),
  labels: optional(9, map(string), "To find it by."),
  annotations: optional(10, map(string), "Kept with it."),
  logPath: optional(11, string, "Its log, below the sandbox's log directory."),
  stdin: optional(12, bool, "Whether it can be written to."),
  stdinOnce: optional(13, bool, "Whether its input ends with the first writer."),
  tty: optional(14, bool, "Whether it has a terminal."),
  linux: optional(15, LinuxContainerConfig, "What is particular to Linux."),
  cdiDevices: optional(17, list(CDIDevice), "Devices by their vendors' names."),
});
export type ContainerConfig = MessageOf<typeof ContainerConfig>;

const ContainerResources = message("ContainerResources", "What a container may use.", {
  linux: optional(1, LinuxContainerResources, "On Linux."),
});
export const ContainerStatus = message("ContainerStatus", "How a container is.", {
  id: required(1, string, "Its id."),
  metadata: optional(2, ContainerMetadata, "Its name."),
  state: requiredEnum(3, containerStates, "Where it is in its life."),
  createdAt: required(4, nanoseconds, "When it was made."),
  startedAt: required(5, nanoseconds, "When it was started."),
  finishedAt: required(6, nanoseconds, "When it ended."),
  exitCode: required(7, int32, "What it ended with."),
  image: optional(8, ImageSpec, "Its image as it was asked for."),
  imageRef: required(9, string, "Its image as it was found."),
  reason: required(10, string, "One word for why it is so."),
  message: required(11, string, "More words."),
  labels: required(12, map(string), "To find it by."),
  annotations: required(13, map(string), "Kept with it."),
  mounts: required(14, list(Mount), "What it sees of the host."),
  logPath: required(15, string, "The file of its log."),
  resources: optional(16, ContainerResources, "What it may use."),
});
export type ContainerStatus = MessageOf<typeof ContainerStatus>;

const containerIdOnly = { containerId: optional(1, string, "Which.") };
const verbose = optional(2, bool, "Whether to tell what is particular to the runtime.");
export const CreateContainerResponse = message("CreateContainerResponse", "A container is made.", {
  containerId: required(1, string, "Its id."),
});
export const StartContainerRequest = message("StartContainerRequest", "Starts a container.", containerIdOnly);
export const StartContainerResponse = message("StartContainerResponse", "Started.", {});
export const StopContainerRequest = message("StopContainerRequest", "Stops a container.", {
  ...containerIdOnly,
  timeout: optional(2, int64, "Seconds it has to end by itself."),
});
export const StopContainerResponse = message("StopContainerResponse", "Stopped.", {});
export const RemoveContainerRequest = message(
  "RemoveContainerRequest",
  "Removes a container.",
  containerIdOnly,
);
export const RemoveContainerResponse = message("RemoveContainerResponse", "Removed.", {});
export const ContainerStatusRequest = message("ContainerStatusRequest", "Asks how a container is.", {
  ...containerIdOnly,
  verbose,
});
export const ContainerStatusResponse = message("ContainerStatusResponse", "How a container is.", {
  status: optional(1, ContainerStatus, "The container."),
  info: required(2, map(string), "What is particular to the runtime."),
});
export const UpdateContainerResourcesRequest = message(
  "UpdateContainerResourcesRequest",
  "Changes what a container may use.",
  {
    ...containerIdOnly,
    linux: optional(2, LinuxContainerResources, "On Linux."),
    annotations: optional(4, map(string), "What the runtime is told besides."),
  },
);
export const UpdateContainerResourcesResponse = message("UpdateContainerResourcesResponse", "Changed.", {});
export const ReopenContainerLogRequest = message(
  "ReopenContainerLogRequest",
  "Makes the runtime write to a new log file.",
  containerIdOnly,
);
export const ReopenContainerLogResponse = message("ReopenContainerLogResponse", "Reopened.", {});
export const CheckpointContainerRequest = message(
  "CheckpointContainerRequest",
  "Writes a running container to a file.",
  {
    ...containerIdOnly,
    location: optional(2, string, "The file."),
    timeout: optional(3, int64, "Seconds it may take."),
  },
);
export const CheckpointContainerResponse = message("CheckpointContainerResponse", "Written.", {});

const ContainerStateValue = message("ContainerStateValue", "A state to look for.", {
  state: optional(1, int32, "The state.", { enum: containerStates }),
});
export const ContainerFilter = message("ContainerFilter", "Which containers.", {
  id: optional(1, string, "With this id."),
  state: optional(2, ContainerStateValue, "In this state."),
  podSandboxId: optional(3, string, "In this sandbox."),
  labelSelector: optional(4, map(string), "With all these labels."),
});
export type ContainerFilter = MessageOf<typeof ContainerFilter>;
export const ListContainersRequest = message("ListContainersRequest", "Asks for containers.", {
  filter: optional(1, ContainerFilter, "Which."),
});
export const Container = message("Container", "A container in a list.", {
  id: required(1, string, "Its id."),
  podSandboxId: required(2, string, "Its sandbox."),
  metadata: optional(3, ContainerMetadata, "Its name."),
  image: optional(4, ImageSpec, "Its image as it was asked for."),
  imageRef: required(5, string, "Its image as it was found."),
  state: requiredEnum(6, containerStates, "Where it is in its life."),
  createdAt: required(7, nanoseconds, "When it was made."),
  labels: required(8, map(string), "To find it by."),
  annotations: required(9, map(string), "Kept with it."),
});
export type Container = MessageOf<typeof Container>;
export const ListContainersResponse = message("ListContainersResponse", "Containers.", {
  containers: required(1, list(Container), "In no order."),
});

export const ExecSyncRequest = message("ExecSyncRequest", "Runs a program in a container and waits for it.", {
  ...containerIdOnly,
  cmd: optional(2, list(string), "The program and its arguments."),
  timeout: optional(3, int64, "Seconds it may take; zero for no limit."),
});
export const ExecSyncResponse = message("ExecSyncResponse", "What the program did.", {
  stdout: required(1, rawBytes, "What it said."),
  stderr: required(2, rawBytes, "What it complained about."),
  exitCode: required(3, int32, "What it ended with."),
});
export type ExecSyncResponse = MessageOf<typeof ExecSyncResponse>;
export const ExecRequest = message("ExecRequest", "Asks for a way to a new program in a container.", {
  ...containerIdOnly,
  cmd: optional(2, list(string), "The program and its arguments."),
  tty: optional(3, bool, "With a terminal."),
  stdin: optional(4, bool, "With its input."),
  stdout: optional(5, bool, "With its output."),
  stderr: optional(6, bool, "With its complaints; not together with a terminal."),
});
export type ExecRequest = MessageOf<typeof ExecRequest>;
export const AttachRequest = message("AttachRequest", "Asks for a way to the program of a container.", {
  ...containerIdOnly,
  stdin: optional(2, bool, "With its input."),
  tty: optional(3, bool, "With a terminal."),
  stdout: optional(4, bool, "With its output."),
  stderr: optional(5, bool, "With its complaints; not together with a terminal."),
});
export type AttachRequest = MessageOf<typeof AttachRequest>;
/** The response of Exec, Attach and PortForward. */
export const StreamingResponse = message("StreamingResponse", "A way to a stream.", {
  url: required(1, string, "Where to connect."),
});
