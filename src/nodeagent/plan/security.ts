// Converts the security contexts of a pod and a container to CRI security settings.
import type { Container, EphemeralContainer, Pod, SeccompProfile } from "#api";
import {
  type Image,
  type LinuxContainerSecurityContext,
  type NamespaceOption,
  type SecurityProfile,
  namespaceMode,
  profileType,
} from "#cri";
import type { Dialect } from "#dialect";
import { isHostNetwork, longNameOf } from "../pod.ts";

export interface SecuritySettings {
  readonly dialect: Dialect;
  /** Whether containers without a seccomp profile get the runtime's default profile. */
  readonly seccompDefault: boolean;
  /** Directory of the node's local seccomp profiles. */
  readonly seccompFolder: string;
}

const maskedPaths = [
  "/proc/asound",
  "/proc/acpi",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/sys/firmware",
];
const readonlyPaths = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

export function namespacesOf(pod: Pod, target?: string): NamespaceOption {
  const { hostPID, hostIPC, shareProcessNamespace } = pod.spec;
  const processes =
    target !== undefined
      ? namespaceMode.target
      : hostPID
        ? namespaceMode.node
        : shareProcessNamespace
          ? namespaceMode.pod
          : namespaceMode.container;
  return {
    network: isHostNetwork(pod) ? namespaceMode.node : namespaceMode.pod,
    ipc: hostIPC ? namespaceMode.node : namespaceMode.pod,
    pid: processes,
    ...(target !== undefined && { targetId: target }),
  };
}

/**
 * Returns the supplemental groups of every process of the pod, with those of its volumes that it does not list;
 * texts that are no numbers are ignored.
 */
export function groupsOf(pod: Pod, ofVolumes: Iterable<string> = []): number[] {
  const { fsGroup, supplementalGroups = [] } = pod.spec.securityContext ?? {};
  const listed = supplementalGroups.map(Number);
  const added = [...new Set(ofVolumes)]
    .toSorted()
    .flatMap((group) => (/^[+-]?\d+$/.test(group) ? [Number(group)] : []))
    .filter((group) => !listed.includes(group));
  return [...(fsGroup !== undefined ? [Number(fsGroup)] : []), ...listed, ...added];
}

/** The user of an image, as reported by the runtime. */
export interface ImageUser {
  readonly uid?: number;
  readonly username: string;
}
export const imageUserOf = (image: Image): ImageUser => ({
  ...(image.uid && { uid: Number(image.uid.value ?? 0) }),
  username: image.username,
});

/** Returns why a container with runAsNonRoot would run as root; undefined if it would not. */
export function rootProblem(pod: Pod, container: Container, user: ImageUser): string | undefined {
  const own = container.securityContext;
  const of = pod.spec.securityContext;
  if (!(own?.runAsNonRoot ?? of?.runAsNonRoot)) return undefined;
  const at = `(pod: ${JSON.stringify(longNameOf(pod))}, container: ${container.name})`;
  const runAsUser = own?.runAsUser ?? of?.runAsUser;
  if (runAsUser !== undefined)
    return Number(runAsUser) === 0 ? `container's runAsUser breaks non-root policy ${at}` : undefined;
  if (user.uid === undefined && user.username !== "")
    return `container has runAsNonRoot and image has non-numeric user (${user.username}), cannot verify user is non-root ${at}`;
  // An image that sets no user runs as root.
  return (user.uid ?? 0) === 0 ? `container has runAsNonRoot and image will run as root ${at}` : undefined;
}

export function containerSecurity(
  pod: Pod,
  container: Container | EphemeralContainer,
  user: ImageUser,
  settings: SecuritySettings,
  target?: string,
  groups: readonly number[] = groupsOf(pod),
): LinuxContainerSecurityContext {
  const own = container.securityContext ?? {};
  const of = pod.spec.securityContext ?? {};
  const runAsUser = own.runAsUser ?? of.runAsUser;
  const group = own.runAsGroup ?? of.runAsGroup;
  const labels = own.seLinuxOptions ?? of.seLinuxOptions;
  const { path, profile } = seccompOf(own.seccompProfile ?? of.seccompProfile, settings);
  const appArmor =
    pod.metadata.annotations?.[settings.dialect.names.annotations.appArmorContainerPrefix + container.name];
  return {
    ...(own.capabilities && {
      capabilities: {
        addCapabilities: own.capabilities.add ?? [],
        dropCapabilities: own.capabilities.drop ?? [],
      },
    }),
    ...(own.privileged && { privileged: true }),
    namespaceOptions: namespacesOf(pod, target),
    ...(labels && {
      selinuxOptions: {
        user: labels.user ?? "",
        role: labels.role ?? "",
        type: labels.type ?? "",
        level: labels.level ?? "",
      },
    }),
    ...(runAsUser !== undefined
      ? { runAsUser: { value: Number(runAsUser) } }
      : user.uid !== undefined
        ? { runAsUser: { value: user.uid } }
        : user.username !== ""
          ? { runAsUsername: user.username }
          : // An image that sets no user runs as root; a group can be set only together with a user.
            { runAsUser: { value: 0 } }),
    ...(own.readOnlyRootFilesystem && { readonlyRootfs: true }),
    ...(groups.length > 0 && { supplementalGroups: [...groups] }),
    ...(appArmor && { apparmorProfile: appArmor }),
    ...(path !== "" && { seccompProfilePath: path }),
    ...(own.allowPrivilegeEscalation === false && { noNewPrivs: true }),
    ...(group !== undefined && { runAsGroup: { value: Number(group) } }),
    ...(own.procMount !== "Unmasked" && { maskedPaths, readonlyPaths }),
    seccomp: profile,
  };
}

function seccompOf(
  profile: SeccompProfile | undefined,
  { seccompDefault, seccompFolder }: SecuritySettings,
): { readonly path: string; readonly profile: SecurityProfile } {
  switch (profile?.type) {
    case "RuntimeDefault":
      return { path: "runtime/default", profile: { profileType: profileType.runtimeDefault } };
    case "Localhost": {
      const file = `${seccompFolder}/${profile.localhostProfile ?? ""}`;
      return {
        path: `localhost/${file}`,
        profile: { profileType: profileType.localhost, localhostRef: file },
      };
    }
    case "Unconfined":
      return { path: "unconfined", profile: { profileType: profileType.unconfined } };
    default:
      return seccompDefault
        ? { path: "runtime/default", profile: { profileType: profileType.runtimeDefault } }
        : { path: "", profile: { profileType: profileType.unconfined } };
  }
}
