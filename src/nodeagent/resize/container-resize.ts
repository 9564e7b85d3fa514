// What a change of a running container's resources takes: nothing, a call to the runtime, or a restart. Pure.
// Amounts are compared as the kernel keeps them: a thousandth of a processor more may be no change at all.
import { type Container, type ContainerStatus, sameAmounts } from "#api";
import type { ObservedContainer } from "../containers/observed.ts";
import { type CpuSettings, containerAmounts, quotaOf, sharesOf } from "../plan/amounts.ts";
import { resourceAmount } from "../plan/pod-resources.ts";
import type { Amounts } from "./allocation-checkpoint.ts";

/** CPU in thousandths, memory in bytes; zero is none. */
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
      /** Which of them change, and whether they grow. */
      readonly memory?: "grows" | "shrinks";
      readonly cpu?: "grows" | "shrinks";
    };

const none: ContainerResize = { kind: "none" };

export interface ResizeFacts {
  readonly found: ObservedContainer;
  /** What was told of the container last. */
  readonly status: ContainerStatus | undefined;
  readonly allocated: Amounts | null | undefined;
  readonly cpu: CpuSettings;
}

export function containerResize(
  container: Container,
  { found, status, allocated, cpu }: ResizeFacts,
): ContainerResize {
  // The node must have agreed, and what is known must be of this container and not of the one before.
  if (found.state !== "running" || !status?.state.running || !status.resources) return none;
  if (!status.containerID?.endsWith(found.id)) return none;
  if (!sameAmounts(container.resources?.requests, allocated ?? undefined)) return none;
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
  // No limit is more than any limit.
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
