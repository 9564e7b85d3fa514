// Builds the CRI ContainerConfig of a container.
import type { Container, Pod } from "#api";
import type { ContainerConfig, Device, LinuxContainerSecurityContext, Mount, UserNamespace } from "#cri";
import type { Dialect } from "#dialect";
import type { ContainerContribution } from "../interfaces.ts";
import { containerAnnotations, containerLabels } from "../containers/runtime-labels.ts";
import { type CpuSettings, containerAmounts, hugepageLimits, linuxResources, oomScoreOf } from "./amounts.ts";
import { expand } from "./expand.ts";
import { type ImageUser, type SecuritySettings, containerSecurity } from "./security.ts";

export interface ContainerFacts {
  readonly dialect: Dialect;
  /** The agent's owner label. */
  readonly owner?: string | undefined;
  /** The image ID. */
  readonly imageId: string;
  readonly imageUser: ImageUser;
  readonly restartCount: number;
  readonly environment: ReadonlyMap<string, string>;
  readonly mounts: readonly Mount[];
  readonly devices?: readonly Device[];
  /** Additions by the resource managers. */
  readonly contributions?: readonly ContainerContribution[];
  readonly cpu: CpuSettings;
  readonly memoryCapacityBytes: number;
  readonly hugePageSizes: readonly string[];
  readonly security: SecuritySettings;
  /** The container whose processes an ephemeral container joins. */
  readonly targetId?: string;
  /** The user namespace of the pod's sandbox. */
  readonly users?: UserNamespace | undefined;
  /** The supplemental groups of the pod's sandbox. */
  readonly groups?: readonly number[] | undefined;
}

export const logPathOf = (container: Container, restartCount: number): string =>
  `${container.name}/${restartCount}.log`;

export function containerConfig(pod: Pod, container: Container, facts: ContainerFacts): ContainerConfig {
  const { dialect, restartCount, environment } = facts;
  const expanded = (texts: readonly string[] | undefined): string[] =>
    (texts ?? []).map((text) => expand(text, (name) => environment.get(name)));
  const command = expanded(container.command);
  const args = expanded(container.args);
  const contributions = facts.contributions ?? [];
  const added = merged(contributions);
  const devices = [...(facts.devices ?? []), ...added.devices];
  const envs = new Map([...Object.entries(added.environment), ...environment]);
  return {
    metadata: { name: container.name, ...(restartCount > 0 && { attempt: restartCount }) },
    image: { image: facts.imageId },
    ...(command.length > 0 && { command }),
    ...(args.length > 0 && { args }),
    ...(container.workingDir && { workingDir: container.workingDir }),
    envs: [...envs].map(([key, value]) => ({ key, value })),
    mounts: mappedMounts([...facts.mounts, ...added.mounts], facts.users),
    ...(devices.length > 0 && { devices }),
    ...(added.cdiDevices.length > 0 && { cdiDevices: added.cdiDevices.map((name) => ({ name })) }),
    labels: containerLabels(pod, container, dialect, facts.owner),
    annotations: { ...added.annotations, ...containerAnnotations(pod, container, restartCount, dialect) },
    logPath: logPathOf(container, restartCount),
    ...(container.stdin && { stdin: true }),
    ...(container.stdinOnce && { stdinOnce: true }),
    ...(container.tty && { tty: true }),
    linux: {
      resources: {
        ...linuxResources(containerAmounts(container), facts.cpu),
        oomScoreAdj: oomScoreOf(pod, container, facts.memoryCapacityBytes, facts.dialect),
        hugepageLimits: hugepageLimits(container, facts.hugePageSizes),
        ...added.resources,
      },
      securityContext: withUsers(
        containerSecurity(pod, container, facts.imageUser, facts.security, facts.targetId, facts.groups),
        facts.users,
      ),
    },
  };
}

/** Lets the runtime map the owners of files in volumes into the pod's user namespace. */
const mappedMounts = (mounts: Mount[], users: UserNamespace | undefined): Mount[] =>
  users?.uids
    ? mounts.map((mount) => ({ ...mount, uidMappings: users.uids, gidMappings: users.gids }))
    : mounts;

const withUsers = (
  security: LinuxContainerSecurityContext,
  users: UserNamespace | undefined,
): LinuxContainerSecurityContext =>
  users
    ? { ...security, namespaceOptions: { ...security.namespaceOptions, usernsOptions: users } }
    : security;

/** Merges contributions in order; a later one overrides an earlier one. */
function merged(contributions: readonly ContainerContribution[]) {
  return {
    resources: Object.assign({}, ...contributions.map(({ resources }) => resources ?? {})) as NonNullable<
      ContainerContribution["resources"]
    >,
    environment: Object.assign({}, ...contributions.map((one) => one.environment ?? {})) as Record<
      string,
      string
    >,
    annotations: Object.assign({}, ...contributions.map((one) => one.annotations ?? {})) as Record<
      string,
      string
    >,
    devices: contributions.flatMap(({ devices = [] }) => devices),
    cdiDevices: contributions.flatMap(({ cdiDevices = [] }) => cdiDevices),
    mounts: contributions.flatMap(({ mounts = [] }) => mounts),
  };
}
