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

export const ContainerPort = message("ContainerPort", "A port that a container listens on.", {
  name: optional(1, string, "Name by which services may refer to the port; unique in the pod."),
  hostPort: optional(2, int32, "Port of the node that leads here."),
  containerPort: required(3, int32, "Port of the pod's address."),
  protocol: optional(4, Protocol, "UDP, TCP or SCTP.", { ...openEnum("SCTP", "TCP", "UDP"), default: "TCP" }),
  hostIP: optional(5, string, "Address of the node to bind the host port to."),
});
export type ContainerPort = TypeOf<typeof ContainerPort>;

export const VolumeMount = message("VolumeMount", "Where a volume appears in a container.", {
  name: required(1, string, "Name of the volume."),
  readOnly: optional(2, bool, "Whether it is mounted read-only."),
  mountPath: required(3, string, "Path in the container."),
  subPath: optional(4, string, "Path within the volume to mount instead of its root."),
  mountPropagation: pointer(
    5,
    named("MountPropagationMode", string),
    "Whether later mounts pass in or out: None, HostToContainer or Bidirectional.",
    openEnum("Bidirectional", "HostToContainer", "None"),
  ),
  subPathExpr: optional(6, string, "Like subPath, with $(NAME) standing for environment variables."),
});
export type VolumeMount = TypeOf<typeof VolumeMount>;

export const VolumeDevice = message("VolumeDevice", "Where a raw block volume appears in a container.", {
  name: required(1, string, "Name of a claim volume in the pod."),
  devicePath: required(2, string, "Path of the device in the container."),
});
export type VolumeDevice = TypeOf<typeof VolumeDevice>;

export const Container = message("Container", "One program with its image and surroundings.", {
  name: required(1, string, "Unique in the pod; never changes."),
  image: optional(2, string, "Image to run."),
  command: optional(
    3,
    list(string),
    "Program and first arguments, in place of the image's entry point; $(NAME) is expanded.",
  ),
  args: optional(4, list(string), "Arguments, in place of the image's; $(NAME) is expanded."),
  workingDir: optional(5, string, "Directory to start in; the image's when empty."),
  ports: optional(6, list(ContainerPort), "Ports it listens on; leaving one out does not close it.", {
    ...patchMerge("containerPort"),
    ...mapList("containerPort", "protocol"),
  }),
  envFrom: optional(
    19,
    list(EnvFromSource),
    "Whole sets of environment variables; later ones win, single ones win over all.",
  ),
  env: optional(7, list(EnvVar), "Environment variables.", patchMerge("name")),
  resources: embedded(8, ResourceRequirements, "How much it needs, and how much it may use."),
  resizePolicy: optional(23, list(ContainerResizePolicy), "What changes of its resources take.", atomicList),
  volumeMounts: optional(
    9,
    list(VolumeMount),
    "Volumes it sees as directories or files.",
    patchMerge("mountPath"),
  ),
  volumeDevices: optional(
    21,
    list(VolumeDevice),
    "Volumes it sees as block devices.",
    patchMerge("devicePath"),
  ),
  livenessProbe: optional(10, Probe, "Restarts it when the answer is bad."),
  readinessProbe: optional(11, Probe, "Takes it out of service while the answer is bad."),
  startupProbe: optional(22, Probe, "Holds back the other probes until the first good answer."),
  lifecycle: optional(12, Lifecycle, "What to do when it starts and stops."),
  terminationMessagePath: optional(
    13,
    string,
    "File in which it may leave a last message.",
    hiddenDefault("/dev/termination-log"),
  ),
  terminationMessagePolicy: optional(
    20,
    named("TerminationMessagePolicy", string),
    "Where the last message comes from: File, or FallbackToLogsOnError.",
    {
      ...openEnum("FallbackToLogsOnError", "File"),
      ...hiddenDefault("File"),
    },
  ),
  imagePullPolicy: optional(
    14,
    named("PullPolicy", string),
    "When to pull: Always, IfNotPresent or Never.",
    openEnum("Always", "IfNotPresent", "Never"),
  ),
  securityContext: optional(15, SecurityContext, "Security settings; they win over those of the pod."),
  stdin: optional(16, bool, "Keeps a standard input open to attach to."),
  stdinOnce: optional(17, bool, "Closes the standard input after the first client has left."),
  tty: optional(18, bool, "Gives it a terminal; needs stdin."),
  restartPolicy: pointer(
    24,
    string,
    "Of an init container: Always lets it run beside those after it, until they have ended.",
    gated("SidecarContainers"),
  ),
});
export type Container = TypeOf<typeof Container>;

export const EphemeralContainerCommon = message(
  "EphemeralContainerCommon",
  "What an ephemeral container shares with the others.",
  Container.fields,
);
export type EphemeralContainerCommon = TypeOf<typeof EphemeralContainerCommon>;

export const EphemeralContainer = message(
  "EphemeralContainer",
  "A container added to a running pod, to look into it; never restarted.",
  {
    ephemeralContainerCommon: inline(1, EphemeralContainerCommon),
    targetContainerName: optional(2, string, "Container whose process namespace it joins."),
  },
);
export type EphemeralContainer = TypeOf<typeof EphemeralContainer>;

export const ContainerStateWaiting = message("ContainerStateWaiting", "Not running yet.", {
  reason: optional(1, string, "Why it waits, in one word."),
  message: optional(2, string, "Why it waits, for people."),
});
export type ContainerStateWaiting = TypeOf<typeof ContainerStateWaiting>;

export const ContainerStateRunning = message("ContainerStateRunning", "Running.", {
  startedAt: embedded(1, time, "When it was last started."),
});
export type ContainerStateRunning = TypeOf<typeof ContainerStateRunning>;

export const ContainerStateTerminated = message("ContainerStateTerminated", "Ended.", {
  exitCode: required(1, int32, "Exit code of its last run."),
  signal: optional(2, int32, "Signal that ended it."),
  reason: optional(3, string, "Why it ended, in one word."),
  message: optional(4, string, "Why it ended, for people."),
  startedAt: embedded(5, time, "When that run began."),
  finishedAt: embedded(6, time, "When that run ended."),
  containerID: optional(7, string, "Identity of the run, as type://id."),
});
export type ContainerStateTerminated = TypeOf<typeof ContainerStateTerminated>;

export const ContainerState = message(
  "ContainerState",
  "One of waiting, running and terminated; waiting when none is set.",
  {
    waiting: optional(1, ContainerStateWaiting, "Set while it waits."),
    running: optional(2, ContainerStateRunning, "Set while it runs."),
    terminated: optional(3, ContainerStateTerminated, "Set once it has ended."),
  },
);
export type ContainerState = TypeOf<typeof ContainerState>;

export const ContainerStatus = message("ContainerStatus", "What is known about one container.", {
  name: required(1, string, "Name of the container."),
  state: embedded(2, ContainerState, "What it does now."),
  lastState: embedded(3, ContainerState, "How its run before this one ended."),
  ready: required(4, bool, "Whether it passes its readiness check."),
  restartCount: required(5, int32, "How often it was restarted."),
  image: required(6, string, "Image it runs; may be spelled differently from the spec."),
  imageID: required(7, string, "Identity of that image."),
  containerID: optional(8, string, "Identity of the run, as type://id."),
  started: pointer(9, bool, "Whether it has started for good: startup probe passed, postStart done."),
  allocatedResources: optional(10, ResourceList, "What the node set aside for it."),
  resources: optional(11, ResourceRequirements, "Requests and limits in force."),
});
export type ContainerStatus = TypeOf<typeof ContainerStatus>;
