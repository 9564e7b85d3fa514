// Security contexts of pods and containers.
import { type TypeOf, bool, int64, list, optional, pointer, required, string } from "#schema";
import { gated, openEnum } from "../extras.ts";
import { Capability } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, named } = core;

export const Capabilities = message(
  "Capabilities",
  "POSIX capabilities to add to and drop from a container.",
  {
    add: optional(1, list(Capability), "Capabilities to add."),
    drop: optional(2, list(Capability), "Capabilities to drop."),
  },
);
export type Capabilities = TypeOf<typeof Capabilities>;

export const SELinuxOptions = message("SELinuxOptions", "SELinux labels of a container.", {
  user: optional(1, string, "SELinux user label."),
  role: optional(2, string, "SELinux role label."),
  type: optional(3, string, "SELinux type label."),
  level: optional(4, string, "SELinux level label."),
});
export type SELinuxOptions = TypeOf<typeof SELinuxOptions>;

export const WindowsSecurityContextOptions = message(
  "WindowsSecurityContextOptions",
  "Windows-specific security options.",
  {
    gmsaCredentialSpecName: pointer(1, string, "Name of the GMSA credential spec to use."),
    gmsaCredentialSpec: pointer(
      2,
      string,
      "Contents of the GMSA credential spec; set by the GMSA admission webhook.",
    ),
    runAsUserName: pointer(
      3,
      string,
      "User name to run the entry point of the container as; defaults to the user of the image.",
    ),
    hostProcess: pointer(
      4,
      bool,
      "Whether to run as a host process container; all containers of a pod must have the same value.",
    ),
  },
);
export type WindowsSecurityContextOptions = TypeOf<typeof WindowsSecurityContextOptions>;

export const SeccompProfile = message(
  "SeccompProfile",
  "Seccomp profile that restricts system calls.",
  {
    type: required(
      1,
      named("SeccompProfileType", string),
      "Kind of profile to apply: Localhost, RuntimeDefault or Unconfined.",
      openEnum("Localhost", "RuntimeDefault", "Unconfined"),
    ),
    localhostProfile: pointer(
      2,
      string,
      "Path of a profile file on the node, relative to its seccomp directory; set only for type Localhost.",
    ),
  },
  { union: { discriminator: "type", members: ["localhostProfile"] } },
);
export type SeccompProfile = TypeOf<typeof SeccompProfile>;

export const AppArmorProfile = message(
  "AppArmorProfile",
  "AppArmor profile that confines a program.",
  {
    type: required(
      1,
      named("AppArmorProfileType", string),
      "Kind of profile to apply: Localhost, RuntimeDefault or Unconfined.",
      openEnum("Localhost", "RuntimeDefault", "Unconfined"),
    ),
    localhostProfile: pointer(
      2,
      string,
      "Name of a profile loaded on the node; set only for type Localhost.",
    ),
  },
  { union: { discriminator: "type", members: ["localhostProfile"] } },
);
export type AppArmorProfile = TypeOf<typeof AppArmorProfile>;

export const Sysctl = message("Sysctl", "A kernel parameter to set.", {
  name: required(1, string, "Name of the parameter."),
  value: required(2, string, "Value of the parameter."),
});
export type Sysctl = TypeOf<typeof Sysctl>;

export const PodSecurityContext = message(
  "PodSecurityContext",
  "Security attributes of a pod and defaults for its containers.",
  {
    seLinuxOptions: optional(
      1,
      SELinuxOptions,
      "SELinux context of all containers; assigned by the container runtime if unset.",
    ),
    windowsOptions: optional(8, WindowsSecurityContextOptions, "Windows-specific security options."),
    runAsUser: pointer(
      2,
      int64,
      "User ID to run the entry point of the container as; defaults to the user of the image.",
    ),
    runAsGroup: pointer(
      6,
      int64,
      "Group ID to run the entry point of the container as; the runtime's default if unset.",
    ),
    runAsNonRoot: pointer(
      3,
      bool,
      "Whether containers must run as a non-root user; those that would run as UID 0 fail to start.",
    ),
    supplementalGroups: optional(
      4,
      list(int64),
      "Additional group IDs of the first process of each container.",
    ),
    fsGroup: pointer(
      5,
      int64,
      "Group ID that owns supported volumes and is added to the groups of all containers.",
    ),
    sysctls: optional(7, list(Sysctl), "Namespaced kernel parameters of the pod."),
    fsGroupChangePolicy: pointer(
      9,
      named("PodFSGroupChangePolicy", string),
      "When to change ownership and permissions of volumes to fsGroup: OnRootMismatch or Always (default).",
      openEnum("Always", "OnRootMismatch"),
    ),
    seccompProfile: optional(10, SeccompProfile, "Seccomp options of all containers."),
    appArmorProfile: optional(
      11,
      AppArmorProfile,
      "AppArmor options of all containers.",
      gated("AppArmorFields"),
    ),
  },
);
export type PodSecurityContext = TypeOf<typeof PodSecurityContext>;

export const SecurityContext = message(
  "SecurityContext",
  "Security options of a container; they take precedence over those of the pod.",
  {
    capabilities: optional(
      1,
      Capabilities,
      "Capabilities to add and drop; defaults to the set granted by the container runtime.",
    ),
    privileged: pointer(
      2,
      bool,
      "Whether to run in privileged mode, essentially equivalent to root on the host; defaults to false.",
    ),
    seLinuxOptions: optional(
      3,
      SELinuxOptions,
      "SELinux context of the container; assigned by the container runtime if unset.",
    ),
    windowsOptions: optional(10, WindowsSecurityContextOptions, "Windows-specific security options."),
    runAsUser: pointer(
      4,
      int64,
      "User ID to run the entry point of the container as; defaults to the user of the image.",
    ),
    runAsGroup: pointer(
      8,
      int64,
      "Group ID to run the entry point of the container as; the runtime's default if unset.",
    ),
    runAsNonRoot: pointer(
      5,
      bool,
      "Whether containers must run as a non-root user; those that would run as UID 0 fail to start.",
    ),
    readOnlyRootFilesystem: pointer(
      6,
      bool,
      "Whether the root file system of the container is read-only; defaults to false.",
    ),
    allowPrivilegeEscalation: pointer(
      7,
      bool,
      "Whether a process can gain more privileges than its parent (controls the no_new_privs flag).",
    ),
    procMount: pointer(
      9,
      named("ProcMountType", string),
      "Type of the /proc mount: Default masks paths as the runtime does, Unmasked does not.",
      openEnum("Default", "Unmasked"),
    ),
    seccompProfile: optional(
      11,
      SeccompProfile,
      "Seccomp options of the container; they take precedence over those of the pod.",
    ),
    appArmorProfile: optional(
      12,
      AppArmorProfile,
      "AppArmor options of the container; they take precedence over those of the pod.",
      gated("AppArmorFields"),
    ),
  },
);
export type SecurityContext = TypeOf<typeof SecurityContext>;
