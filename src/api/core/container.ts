// Containers of a pod.
import {
  type TypeOf,
  bool,
  embedded,
  inline,
  int32,
  list,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { hiddenDefault, gated, mapList, openEnum, patchMerge, atomicList } from "../extras.ts";
import { Protocol, ResourceList } from "../named-types.ts";
import { core } from "../packages.ts";
import { EnvFromSource, EnvVar } from "./env.ts";
import { Lifecycle, Probe } from "./probe.ts";
import { ContainerResizePolicy, ResourceRequirements } from "./resources.ts";
import { SecurityContext } from "./security.ts";

const { message, named } = core;

export const ContainerPort = message("ContainerPort", "A network port of a container.", {
  name: optional(1, string, "Name of the port, unique in the pod, which services can refer to."),
  hostPort: optional(2, int32, "Port to expose on the host; with hostNetwork it must match containerPort."),
  containerPort: required(3, int32, "Port to expose on the pod's IP address."),
  protocol: optional(4, Protocol, "Protocol of the port: UDP, TCP or SCTP.", {
    ...openEnum("SCTP", "TCP", "UDP"),
    default: "TCP",
  }),
  hostIP: optional(5, string, "Host IP address to bind the host port to."),
});
export type ContainerPort = TypeOf<typeof ContainerPort>;

export const VolumeMount = message("VolumeMount", "Mount of a volume in a container.", {
  name: required(1, string, "Name of the volume to mount."),
  readOnly: optional(2, bool, "Whether the volume is mounted read-only."),
  mountPath: required(3, string, "Path in the container at which the volume is mounted."),
  subPath: optional(4, string, "Path within the volume to mount; defaults to the root of the volume."),
  mountPropagation: pointer(
    5,
    named("MountPropagationMode", string),
    "Propagation of mounts between host and container: None (default), HostToContainer or Bidirectional.",
    openEnum("Bidirectional", "HostToContainer", "None"),
  ),
  subPathExpr: optional(
    6,
    string,
    "Like subPath, but $(NAME) references to environment variables are expanded.",
  ),
});
export type VolumeMount = TypeOf<typeof VolumeMount>;

export const VolumeDevice = message("VolumeDevice", "Mapping of a raw block device into a container.", {
  name: required(1, string, "Name of a persistent volume claim volume of the pod."),
  devicePath: required(2, string, "Path in the container at which the device appears."),
});
export type VolumeDevice = TypeOf<typeof VolumeDevice>;

export const Container = message("Container", "An application container to run in a pod.", {
  name: required(1, string, "Name of the container, unique in the pod; immutable."),
  image: optional(2, string, "Name of the container image."),
  command: optional(
    3,
    list(string),
    "Entry point, replacing that of the image; $(NAME) references to environment variables are expanded.",
  ),
  args: optional(
    4,
    list(string),
    "Arguments of the entry point, replacing those of the image; $(NAME) references are expanded.",
  ),
  workingDir: optional(5, string, "Working directory of the container; defaults to that of the image."),
  ports: optional(
    6,
    list(ContainerPort),
    "Ports to expose; informational, since ports that are not listed remain reachable.",
    {
      ...patchMerge("containerPort"),
      ...mapList("containerPort", "protocol"),
    },
  ),
  envFrom: optional(
    19,
    list(EnvFromSource),
    "Sources of environment variables; later sources take precedence, and env takes precedence over all.",
  ),
  env: optional(7, list(EnvVar), "Environment variables to set in the container.", patchMerge("name")),
  resources: embedded(
    8,
    ResourceRequirements,
    "Compute resources that the container requests and is limited to.",
  ),
  resizePolicy: optional(
    23,
    list(ContainerResizePolicy),
    "Whether the container must be restarted when one of its resources is resized.",
    atomicList,
  ),
  volumeMounts: optional(
    9,
    list(VolumeMount),
    "Volumes to mount into the file system of the container.",
    patchMerge("mountPath"),
  ),
  volumeDevices: optional(
    21,
    list(VolumeDevice),
    "Raw block devices to map into the container.",
    patchMerge("devicePath"),
  ),
  livenessProbe: optional(10, Probe, "Periodic probe of liveness; the container is restarted if it fails."),
  readinessProbe: optional(
    11,
    Probe,
    "Periodic probe of readiness; the pod is removed from service endpoints while it fails.",
  ),
  startupProbe: optional(
    22,
    Probe,
    "Probe of initialization; the other probes start once it succeeds, and the container is " +
      "restarted if it fails.",
  ),
  lifecycle: optional(12, Lifecycle, "Actions to take after the container starts and before it stops."),
  terminationMessagePath: optional(
    13,
    string,
    "File from which the termination message is read; defaults to /dev/termination-log.",
    hiddenDefault("/dev/termination-log"),
  ),
  terminationMessagePolicy: optional(
    20,
    named("TerminationMessagePolicy", string),
    "Source of the termination message: File (default), or FallbackToLogsOnError for the log if " +
      "the file is empty.",
    {
      ...openEnum("FallbackToLogsOnError", "File"),
      ...hiddenDefault("File"),
    },
  ),
  imagePullPolicy: optional(
    14,
    named("PullPolicy", string),
    "When to pull the image: Always, Never or IfNotPresent; defaults to Always for tag :latest, " +
      "else IfNotPresent.",
    openEnum("Always", "IfNotPresent", "Never"),
  ),
  securityContext: optional(
    15,
    SecurityContext,
    "Security options of the container; they take precedence over those of the pod.",
  ),
  stdin: optional(
    16,
    bool,
    "Whether to allocate a buffer for standard input; without it, reads from standard input return EOF.",
  ),
  stdinOnce: optional(
    17,
    bool,
    "Whether standard input is closed after the first attached client disconnects.",
  ),
  tty: optional(18, bool, "Whether to allocate a terminal (TTY) for the container; requires stdin."),
  restartPolicy: pointer(
    24,
    string,
    "Restart policy of an init container; Always makes it a sidecar that runs until the regular " +
      "containers end.",
    gated("SidecarContainers"),
  ),
});
export type Container = TypeOf<typeof Container>;

export const EphemeralContainerCommon = message(
  "EphemeralContainerCommon",
  "Fields that an ephemeral container has in common with other containers.",
  Container.fields,
);
export type EphemeralContainerCommon = TypeOf<typeof EphemeralContainerCommon>;

export const EphemeralContainer = message(
  "EphemeralContainer",
  "A temporary container added to a running pod, for example for debugging; it is never restarted.",
  {
    ephemeralContainerCommon: inline(1, EphemeralContainerCommon),
    targetContainerName: optional(
      2,
      string,
      "Name of the container whose process namespace it shares; if empty, that set by the pod is used.",
    ),
  },
);
export type EphemeralContainer = TypeOf<typeof EphemeralContainer>;

export const ContainerStateWaiting = message(
  "ContainerStateWaiting",
  "State of a container that has yet to run.",
  {
    reason: optional(1, string, "Machine-readable reason why the container is not running yet."),
    message: optional(2, string, "Human-readable details of why the container is not running yet."),
  },
);
export type ContainerStateWaiting = TypeOf<typeof ContainerStateWaiting>;

export const ContainerStateRunning = message("ContainerStateRunning", "State of a running container.", {
  startedAt: embedded(1, time, "Time at which the container was last started or restarted."),
});
export type ContainerStateRunning = TypeOf<typeof ContainerStateRunning>;

export const ContainerStateTerminated = message(
  "ContainerStateTerminated",
  "State of a terminated container.",
  {
    exitCode: required(1, int32, "Exit status of the last run."),
    signal: optional(2, int32, "Signal that terminated the last run."),
    reason: optional(3, string, "Machine-readable reason for the termination."),
    message: optional(4, string, "Human-readable details of the termination."),
    startedAt: embedded(5, time, "Time at which the last run started."),
    finishedAt: embedded(6, time, "Time at which the last run finished."),
    containerID: optional(7, string, "ID of the container, in the form type://id."),
  },
);
export type ContainerStateTerminated = TypeOf<typeof ContainerStateTerminated>;

export const ContainerState = message(
  "ContainerState",
  "State of a container; at most one member is set, and none means waiting.",
  {
    waiting: optional(1, ContainerStateWaiting, "Details of a waiting container."),
    running: optional(2, ContainerStateRunning, "Details of a running container."),
    terminated: optional(3, ContainerStateTerminated, "Details of a terminated container."),
  },
);
export type ContainerState = TypeOf<typeof ContainerState>;

export const ContainerStatus = message("ContainerStatus", "Current status of one container.", {
  name: required(1, string, "Name of the container."),
  state: embedded(2, ContainerState, "Current state of the container."),
  lastState: embedded(3, ContainerState, "State in which the previous run of the container ended."),
  ready: required(4, bool, "Whether the container is running and passes its readiness probe."),
  restartCount: required(5, int32, "Number of times the container was restarted."),
  image: required(6, string, "Image that the container runs; its name may differ from that in the spec."),
  imageID: required(7, string, "ID of the image that the container runs."),
  containerID: optional(8, string, "ID of the container, in the form type://id."),
  started: pointer(
    9,
    bool,
    "Whether the container has started: its postStart hook has finished and its startup probe has " +
      "passed.",
  ),
  allocatedResources: optional(
    10,
    ResourceList,
    "Compute resources that the node has allocated to the container.",
  ),
  resources: optional(
    11,
    ResourceRequirements,
    "Resource requests and limits in effect for the running container.",
  ),
});
export type ContainerStatus = TypeOf<typeof ContainerStatus>;
