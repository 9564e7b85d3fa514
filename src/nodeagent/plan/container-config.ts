// What the runtime is told to make one container.
import type { Container, Pod } from "#api";
import type { ContainerConfig, Device, Mount } from "#cri";
import type { Dialect } from "#dialect";
import { containerAnnotations, containerLabels } from "../containers/marks.ts";
import { type CpuSettings, containerAmounts, hugepageLimits, linuxResources, oomScoreOf } from "./amounts.ts";
import { expand } from "./expand.ts";
import { type ImageUser, type SecuritySettings, containerSecurity } from "./security.ts";

export interface ContainerFacts {
  readonly dialect: Dialect;
  /** The image by its id. */
  readonly imageId: string;
  readonly imageUser: ImageUser;
  readonly restartCount: number;
  readonly environment: ReadonlyMap<string, string>;
  readonly mounts: readonly Mount[];
  readonly devices?: readonly Device[];
  readonly cpu: CpuSettings;
  readonly memoryCapacityBytes: number;
  readonly hugePageSizes: readonly string[];
  readonly security: SecuritySettings;
  /** The container whose processes an ephemeral container joins. */
  readonly targetId?: string;
}

export const logPathOf = (container: Container, restartCount: number): string =>
  `${container.name}/${restartCount}.log`;

export function containerConfig(pod: Pod, container: Container, facts: ContainerFacts): ContainerConfig {
  const { dialect, restartCount, environment } = facts;
  const expanded = (texts: readonly string[] | undefined): string[] =>
    (texts ?? []).map((text) => expand(text, (name) => environment.get(name)));
  const command = expanded(container.command);
  const args = expanded(container.args);
  return {
    metadata: { name: container.name, ...(restartCount > 0 && { attempt: restartCount }) },
    image: { image: facts.imageId },
    ...(command.length > 0 && { command }),
    ...(args.length > 0 && { args }),
    ...(container.workingDir && { workingDir: container.workingDir }),
    envs: [...environment].map(([key, value]) => ({ key, value })),
    mounts: [...facts.mounts],
    ...(facts.devices && facts.devices.length > 0 && { devices: [...facts.devices] }),
    labels: containerLabels(pod, container, dialect),
    annotations: containerAnnotations(pod, container, restartCount, dialect),
    logPath: logPathOf(container, restartCount),
    ...(container.stdin && { stdin: true }),
    ...(container.stdinOnce && { stdinOnce: true }),
    ...(container.tty && { tty: true }),
    linux: {
      resources: {
        ...linuxResources(containerAmounts(container), facts.cpu),
        oomScoreAdj: oomScoreOf(pod, container, facts.memoryCapacityBytes, facts.dialect),
        hugepageLimits: hugepageLimits(container, facts.hugePageSizes),
      },
      securityContext: containerSecurity(pod, container, facts.imageUser, facts.security, facts.targetId),
    },
  };
}
