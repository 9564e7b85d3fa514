// Determines how to resize a running container: not at all, by a runtime call, or by a restart. Pure. Amounts
// are compared in kernel units, so that one millicore more may be no change.
import { type Container, type ContainerStatus, equalResources } from "#api";
import type { ObservedContainer } from "../containers/observed.ts";
import { type CpuSettings, containerAmounts, quotaOf, sharesOf } from "../plan/amounts.ts";
import { resourceAmount } from "../plan/pod-resources.ts";
import type { Amounts } from "./allocation-checkpoint.ts";

/** CPU in millicores, memory in bytes; 0 means unset. */
export interface ContainerSize {
  readonly cpuRequest: number;
  readonly cpuLimit: number;
  readonly memoryLimit: number;
}

export type ContainerResize =
  | { readonly kind: "none" }
  | { readonly kind: "restart" }
  | {
      readonly kind: "update";
      readonly container: Container;
      readonly id: string;
      readonly desired: ContainerSize;
      readonly current: ContainerSize;
      /** Which resources change, and in which direction. */
      readonly memory?: "grows" | "shrinks";
      readonly cpu?: "grows" | "shrinks";
    };

const none: ContainerResize = { kind: "none" };

export interface ResizeFacts {
  readonly found: ObservedContainer;
  /** The previous container status. */
  readonly status: ContainerStatus | undefined;
  readonly allocated: Amounts | null | undefined;
  readonly cpu: CpuSettings;
}

export function containerResize(
  container: Container,
  { found, status, allocated, cpu }: ResizeFacts,
): ContainerResize {
  // The resize must have been accepted, and the status must belong to this container, not its predecessor.
  if (found.state !== "running" || !status?.state.running || !status.resources) return none;
  if (!status.containerID?.endsWith(found.id)) return none;
  if (!equalResources(container.resources?.requests, allocated ?? undefined)) return none;
  const desired = sizeOf(container);
  const current = { ...sizeFrom(status.resources), ...found.size };
  const memory = changeOf(current.memoryLimit, desired.memoryLimit);
  const quota = (milliCpu: number): number => (cpu.quota ? quotaOf(milliCpu, cpu.periodMicroseconds) : 0);
  const processors =
    changeOf(quota(current.cpuLimit), quota(desired.cpuLimit)) ??
    changeOf(sharesOf(current.cpuRequest), sharesOf(desired.cpuRequest));
  if (!memory && !processors) return none;
  const restarts = (name: string): boolean =>
    (container.resizePolicy ?? []).some(
      ({ resourceName, restartPolicy }) => resourceName === name && restartPolicy === "RestartContainer",
    );
  if ((memory && restarts("memory")) || (processors && restarts("cpu"))) return { kind: "restart" };
  return {
    kind: "update",
    container,
    id: found.id,
    desired,
    current,
    ...(memory && { memory }),
    ...(processors && { cpu: processors }),
  };
}

const changeOf = (from: number, to: number): "grows" | "shrinks" | undefined => {
  if (from === to) return undefined;
  // An absent limit means unlimited and compares greater than any other.
  return (to === 0 ? Infinity : to) > (from === 0 ? Infinity : from) ? "grows" : "shrinks";
};

export function sizeOf(container: Container): ContainerSize {
  const { cpuRequest, cpuLimit, memoryLimit } = containerAmounts(container);
  return { cpuRequest: cpuRequest ?? cpuLimit, cpuLimit, memoryLimit };
}

const sizeFrom = ({ requests, limits }: NonNullable<ContainerStatus["resources"]>): ContainerSize => ({
  cpuRequest: resourceAmount("cpu", requests?.["cpu"] ?? limits?.["cpu"]),
  cpuLimit: resourceAmount("cpu", limits?.["cpu"]),
  memoryLimit: resourceAmount("memory", limits?.["memory"]),
});
