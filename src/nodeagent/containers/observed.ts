// The state of a pod as observed in the runtime.
import {
  type ContainerStatus,
  type LinuxContainerResources,
  type PodSandboxStatus,
  containerState,
  millisecondsOf,
  namespaceMode,
  sandboxState,
} from "#cri";
import type { Dialect } from "#dialect";
import { type RuntimeLabels, runtimeLabelNames, readRuntimeLabels } from "./runtime-labels.ts";

export type ContainerPhase = "created" | "running" | "exited" | "unknown";

export interface ObservedContainer {
  readonly id: string;
  readonly name: string;
  readonly sandboxId: string;
  readonly state: ContainerPhase;
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly finishedAt: number | undefined;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly image: string;
  readonly imageId: string;
  readonly logPath: string;
  readonly runtimeLabels: RuntimeLabels;
  /** The resources in effect, as far as the runtime reports them: CPU in millicores, memory in bytes. */
  readonly size?: ObservedSize;
}

export interface ObservedSize {
  readonly cpuRequest?: number;
  readonly cpuLimit?: number;
  readonly memoryLimit?: number;
}

export interface ObservedSandbox {
  readonly id: string;
  readonly ready: boolean;
  readonly attempt: number;
  readonly createdAt: number;
  readonly ips: readonly string[];
  readonly hostNetwork: boolean;
}

export interface ObservedPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** Newest first. */
  readonly sandboxes: readonly ObservedSandbox[];
  /** Newest first. */
  readonly containers: readonly ObservedContainer[];
}

export const nothingObserved = (pod: {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}): ObservedPod => ({ ...pod, sandboxes: [], containers: [] });

/** Returns the newest container with a name. */
export const latest = (observed: ObservedPod, name: string): ObservedContainer | undefined =>
  observed.containers.find((container) => container.name === name);

export const hasRunningContainers = ({ containers }: ObservedPod): boolean =>
  containers.some(({ state }) => state === "running");

export const isRunningPod = (observed: ObservedPod): boolean =>
  hasRunningContainers(observed) || observed.sandboxes.some(({ ready }) => ready);

/** Returns the IP addresses of the newest sandbox if it is ready. */
export const podIpsOf = (observed: ObservedPod): readonly string[] =>
  observed.sandboxes[0]?.ready ? observed.sandboxes[0].ips : [];

const phases: Readonly<Record<number, ContainerPhase>> = {
  [containerState.created]: "created",
  [containerState.running]: "running",
  [containerState.exited]: "exited",
};
export const phaseOf = (state: number): ContainerPhase => phases[state] ?? "unknown";

export function observedContainer(
  status: ContainerStatus,
  sandboxId: string,
  terminationMessage: string,
  dialect: Dialect,
): ObservedContainer {
  const exited = status.state === containerState.exited;
  const size = observedSize(status.resources?.linux);
  const exitMessage = [status.message, terminationMessage].filter((text) => text !== "").join(": ");
  return {
    id: status.id,
    name: status.labels[runtimeLabelNames(dialect).containerName] ?? status.metadata?.name ?? "",
    sandboxId,
    state: phaseOf(status.state),
    createdAt: millisecondsOf(status.createdAt) ?? 0,
    startedAt: millisecondsOf(status.startedAt),
    finishedAt: exited ? millisecondsOf(status.finishedAt) : undefined,
    exitCode: exited ? status.exitCode : 0,
    reason: exited ? status.reason : "",
    message: exited ? exitMessage : "",
    image: status.image?.image ?? "",
    imageId: status.imageRef,
    logPath: status.logPath,
    runtimeLabels: readRuntimeLabels(status.annotations, dialect),
    ...(size && { size }),
  };
}

const minCpuShares = 2;

function observedSize(linux: LinuxContainerResources | undefined): ObservedSize | undefined {
  if (!linux) return undefined;
  const { cpuShares = 0, cpuQuota = 0, cpuPeriod = 0, memoryLimitInBytes = 0 } = linux;
  const cpuLimit = cpuPeriod > 0 && cpuQuota > 0 ? Math.trunc((cpuQuota * 1000) / cpuPeriod) : 0;
  return {
    ...(cpuShares >= minCpuShares && { cpuRequest: Math.ceil((cpuShares * 1000) / 1024) }),
    ...(cpuLimit > 0 && { cpuLimit }),
    ...(memoryLimitInBytes > 0 && { memoryLimit: memoryLimitInBytes }),
  };
}

export function observedSandbox(status: PodSandboxStatus): ObservedSandbox {
  const ips = [status.network?.ip ?? "", ...(status.network?.additionalIps ?? []).map(({ ip }) => ip)].filter(
    (ip) => ip !== "",
  );
  return {
    id: status.id,
    ready: status.state === sandboxState.ready,
    attempt: status.metadata?.attempt ?? 0,
    createdAt: millisecondsOf(status.createdAt) ?? 0,
    ips,
    hostNetwork: status.linux?.namespaces?.options?.network === namespaceMode.node,
  };
}
