// The sandboxes and containers held by the fake runtime, and their CRI views.
import type { Container, ContainerConfig, ContainerStatus } from "../messages/container.ts";
import { containerState } from "../messages/container.ts";
import type { Image } from "../messages/image.ts";
import {
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxStatus,
  sandboxState,
} from "../messages/sandbox.ts";
import type { Log } from "./log.ts";
import type { Process } from "./program.ts";

export interface HeldSandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: bigint;
  ip: string;
  ready: boolean;
}

export interface HeldContainer {
  readonly id: string;
  readonly sandbox: HeldSandbox;
  readonly config: ContainerConfig;
  readonly image: Image;
  readonly createdAt: bigint;
  readonly log: Log;
  readonly files: Map<string, string>;
  resources: NonNullable<ContainerConfig["linux"]>["resources"];
  startedAt: bigint;
  finishedAt: bigint;
  state: number;
  exitCode: number;
  reason: string;
  message: string;
  process: Process | undefined;
}

export const sandboxView = (held: HeldSandbox): PodSandbox => ({
  id: held.id,
  metadata: held.config.metadata,
  state: held.ready ? sandboxState.ready : sandboxState.notReady,
  createdAt: held.createdAt,
  labels: { ...held.config.labels },
  annotations: { ...held.config.annotations },
  runtimeHandler: held.runtimeHandler,
});

export const sandboxStatusView = (held: HeldSandbox): PodSandboxStatus => ({
  ...sandboxView(held),
  network: { ip: held.ready ? held.ip : "", additionalIps: [] },
  linux: { namespaces: { options: { ...held.config.linux?.securityContext?.namespaceOptions } } },
});

export const imageRefOf = (image: Image): string => image.repoDigests[0] ?? image.id;

export const containerView = (held: HeldContainer): Container => ({
  id: held.id,
  podSandboxId: held.sandbox.id,
  metadata: held.config.metadata,
  image: held.config.image,
  imageRef: imageRefOf(held.image),
  state: held.state,
  createdAt: held.createdAt,
  labels: { ...held.config.labels },
  annotations: { ...held.config.annotations },
});

export const containerStatusView = (held: HeldContainer): ContainerStatus => {
  const { podSandboxId: _, ...view } = containerView(held);
  return {
    ...view,
    startedAt: held.startedAt,
    finishedAt: held.finishedAt,
    exitCode: held.exitCode,
    reason: held.reason,
    message: held.message,
    mounts: [...(held.config.mounts ?? [])],
    logPath: held.log.path,
    resources: { linux: { ...held.resources } },
  };
};

export const isRunning = (held: HeldContainer): boolean => held.state === containerState.running;

/** Reports whether all labels of a selector match. */
export const hasLabels = (
  labels: Readonly<Record<string, string>> | undefined,
  selector: Readonly<Record<string, string>> | undefined,
): boolean => Object.entries(selector ?? {}).every(([name, value]) => labels?.[name] === value);
