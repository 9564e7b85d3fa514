// Security contexts of pods and containers.
import { type TypeOf, bool, int64, list, optional, pointer, required, string } from "#schema";
import { openEnum } from "../extras.ts";
import { Capability } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, named } = core;

export const Capabilities = message(
  "Capabilities",
  "Changes to the kernel capabilities a container starts with.",
  {
    add: optional(1, list(Capability), "Capabilities given."),
    drop: optional(2, list(Capability), "Capabilities taken away."),
  },
);
export type Capabilities = TypeOf<typeof Capabilities>;

export const SELinuxOptions = message("SELinuxOptions", "The SELinux label of a container.", {
  user: optional(1, string, "User part of the label."),
  role: optional(2, string, "Role part of the label."),
  type: optional(3, string, "Type part of the label."),
  level: optional(4, string, "Level part of the label."),
});
export type SELinuxOptions = TypeOf<typeof SELinuxOptions>;

export const WindowsSecurityContextOptions = message(
  "WindowsSecurityContextOptions",
  "Settings for Windows containers.",
  {
    gmsaCredentialSpecName: pointer(1, string, "Name of the group account's credential spec."),
    gmsaCredentialSpec: pointer(2, string, "The credential spec itself."),
    runAsUserName: pointer(3, string, "User to run as."),
    hostProcess: pointer(4, bool, "Runs it as a process of the host; all containers of the pod agree."),
  },
);
export type WindowsSecurityContextOptions = TypeOf<typeof WindowsSecurityContextOptions>;

export const SeccompProfile = message(
  "SeccompProfile",
  "Which system calls are let through.",
  {
    type: required(
      1,
      named("SeccompProfileType", string),
      "Where the profile comes from: Localhost, RuntimeDefault or Unconfined.",
      openEnum("Localhost", "RuntimeDefault", "Unconfined"),
    ),
    localhostProfile: pointer(
      2,
      string,
      "Profile file on the node, relative to the configured directory; for Localhost only.",
    ),
  },
  { union: { discriminator: "type", members: ["localhostProfile"] } },
);
export type SeccompProfile = TypeOf<typeof SeccompProfile>;

export const Sysctl = message("Sysctl", "One kernel parameter.", {
  name: required(1, string, "Name of the parameter."),
  value: required(2, string, "Its value."),
});
export type Sysctl = TypeOf<typeof Sysctl>;

export const PodSecurityContext = message(
  "PodSecurityContext",
  "Security settings for all containers of a pod.",
  {
    seLinuxOptions: optional(1, SELinuxOptions, "The SELinux label for all containers."),
    windowsOptions: optional(8, WindowsSecurityContextOptions, "Settings for Windows containers."),
    runAsUser: pointer(2, int64, "User id of the first process."),
    runAsGroup: pointer(6, int64, "Group id of the first process."),
    runAsNonRoot: pointer(3, bool, "Refuses to start containers as user 0."),
    supplementalGroups: optional(4, list(int64), "Further groups of the first process."),
    fsGroup: pointer(5, int64, "Group that owns the volumes and is added to every process."),
    sysctls: optional(7, list(Sysctl), "Kernel parameters of the pod's namespaces."),
    fsGroupChangePolicy: pointer(
      9,
      named("PodFSGroupChangePolicy", string),
      "When to hand volumes to fsGroup: OnRootMismatch or Always.",
      openEnum("Always", "OnRootMismatch"),
    ),
    seccompProfile: optional(10, SeccompProfile, "System call filter for all containers."),
  },
);
export type PodSecurityContext = TypeOf<typeof PodSecurityContext>;

export const SecurityContext = message(
  "SecurityContext",
  "Security settings of one container; they win over those of the pod.",
  {
    capabilities: optional(1, Capabilities, "Capabilities to add and drop."),
    privileged: pointer(2, bool, "Gives it about all that root on the node may do."),
    seLinuxOptions: optional(3, SELinuxOptions, "The SELinux label."),
    windowsOptions: optional(10, WindowsSecurityContextOptions, "Settings for Windows containers."),
    runAsUser: pointer(4, int64, "User id of the first process."),
    runAsGroup: pointer(8, int64, "Group id of the first process."),
    runAsNonRoot: pointer(5, bool, "Refuses to start as user 0."),
    readOnlyRootFilesystem: pointer(6, bool, "Mounts the image's file system read-only."),
    allowPrivilegeEscalation: pointer(7, bool, "Whether a process may gain more rights than its parent."),
    procMount: pointer(
      9,
      named("ProcMountType", string),
      "Which kind of /proc it sees: Default or Unmasked.",
      openEnum("Default", "Unmasked"),
    ),
    seccompProfile: optional(11, SeccompProfile, "System call filter."),
  },
);
export type SecurityContext = TypeOf<typeof SecurityContext>;
