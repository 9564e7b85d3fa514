// Builds the CRI PodSandboxConfig of a pod.
import { type Pod, runningContainers } from "#api";
import { type PodSandboxConfig, type PortMapping, type UserNamespace, profileType, protocol } from "#cri";
import type { Dialect } from "#dialect";
import { sandboxLabels } from "../containers/runtime-labels.ts";
import { everyContainerOf, nameOf, namespaceOf, uidOf } from "../pod.ts";
import { type CpuSettings, linuxResources, overheadResources, podAmounts } from "./amounts.ts";
import type { DnsConfig } from "./dns.ts";
import { sandboxHostname } from "./hostname.ts";
import { groupsOf, namespacesOf } from "./security.ts";

export interface SandboxFacts {
  readonly dialect: Dialect;
  /** The agent's owner label. */
  readonly owner?: string | undefined;
  readonly attempt: number;
  readonly clusterDomain: string;
  readonly dns: DnsConfig;
  readonly cgroupParent: string;
  readonly cpu: CpuSettings;
  /** Root directory of the pod logs. */
  readonly logFolder: string;
  /** The user namespace of the pod; undefined if user namespaces are disabled. */
  readonly users?: UserNamespace | undefined;
  /** Supplemental groups that volumes ask for. */
  readonly volumeGroups?: readonly string[];
}

export const logFolderOf = (pod: Pod, logFolder: string): string =>
  `${logFolder}/${namespaceOf(pod)}_${nameOf(pod)}_${uidOf(pod)}`;

export function sandboxConfig(pod: Pod, facts: SandboxFacts): PodSandboxConfig {
  const { dialect, dns, cpu } = facts;
  const hostname = sandboxHostname(pod, facts.clusterDomain);
  const ports = portMappings(pod);
  const { runAsUser, runAsGroup, seLinuxOptions, sysctls } = pod.spec.securityContext ?? {};
  const groups = groupsOf(pod, facts.volumeGroups);
  return {
    metadata: {
      name: nameOf(pod),
      uid: uidOf(pod),
      namespace: namespaceOf(pod),
      ...(facts.attempt > 0 && { attempt: facts.attempt }),
    },
    ...(hostname !== "" && { hostname }),
    logDirectory: logFolderOf(pod, facts.logFolder),
    dnsConfig: { servers: [...dns.servers], searches: [...dns.searches], options: [...dns.options] },
    ...(ports.length > 0 && { portMappings: ports }),
    labels: sandboxLabels(pod, dialect, facts.owner),
    annotations: { ...pod.metadata.annotations },
    linux: {
      cgroupParent: facts.cgroupParent,
      securityContext: {
        namespaceOptions: { ...namespacesOf(pod), ...(facts.users && { usernsOptions: facts.users }) },
        ...(seLinuxOptions && {
          selinuxOptions: {
            user: seLinuxOptions.user ?? "",
            role: seLinuxOptions.role ?? "",
            type: seLinuxOptions.type ?? "",
            level: seLinuxOptions.level ?? "",
          },
        }),
        ...(runAsUser !== undefined && { runAsUser: { value: Number(runAsUser) } }),
        ...(groups.length > 0 && { supplementalGroups: groups }),
        ...(everyContainerOf(pod).some((container) => container.securityContext?.privileged) && {
          privileged: true,
        }),
        ...(runAsGroup !== undefined && { runAsGroup: { value: Number(runAsGroup) } }),
        seccomp: { profileType: profileType.runtimeDefault },
      },
      ...(sysctls &&
        sysctls.length > 0 && {
          sysctls: Object.fromEntries(sysctls.map(({ name, value }) => [name, value])),
        }),
      overhead: overheadResources(pod, cpu),
      resources: linuxResources(podAmounts(pod), cpu),
    },
  };
}

const protocols: Readonly<Record<string, number>> = {
  TCP: protocol.tcp,
  UDP: protocol.udp,
  SCTP: protocol.sctp,
};

function portMappings(pod: Pod): PortMapping[] {
  return runningContainers(pod.spec).flatMap(({ ports }) =>
    (ports ?? []).map((port) => ({
      protocol: protocols[port.protocol ?? "TCP"] ?? protocol.tcp,
      containerPort: port.containerPort,
      ...(port.hostPort && { hostPort: port.hostPort }),
      ...(port.hostIP && { hostIp: port.hostIP }),
    })),
  );
}
