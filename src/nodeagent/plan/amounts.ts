// Converts requests and limits to kernel settings: CPU shares and quota, memory limit, and OOM score.
import type { Container, Pod } from "#api";
import { parseQuantity, quantityMilliValue, quantityValue } from "#base";
import type { LinuxContainerResources } from "#cri";
import type { Dialect } from "#dialect";
import { containersOf, initContainersOf, isCritical } from "../pod.ts";
import { podResource } from "./pod-resources.ts";
import { qosClass } from "./qos.ts";

export interface CpuSettings {
  /** Whether CPU limits are enforced by CFS quota. */
  readonly quota: boolean;
  readonly periodMicroseconds: number;
}

const minShares = 2;
const maxShares = 262_144;
const minQuotaMicroseconds = 1000;

const milli = (amount: string | undefined): number =>
  amount === undefined ? 0 : Number(quantityMilliValue(parseQuantity(amount)));
const whole = (amount: string | undefined): number =>
  amount === undefined ? 0 : Number(quantityValue(parseQuantity(amount)));

export function sharesOf(milliCpu: number): number {
  if (milliCpu === 0) return minShares;
  return Math.min(maxShares, Math.max(minShares, Math.floor((milliCpu * 1024) / 1000)));
}

export function quotaOf(milliCpu: number, periodMicroseconds: number): number {
  if (milliCpu === 0) return 0;
  return Math.max(minQuotaMicroseconds, Math.floor((milliCpu * periodMicroseconds) / 1000));
}

/** Converts amounts to CRI resources; a missing CPU request defaults to the limit. */
export function linuxResources(
  amounts: { readonly cpuRequest?: number; readonly cpuLimit: number; readonly memoryLimit: number },
  cpu: CpuSettings,
): LinuxContainerResources {
  const { cpuRequest, cpuLimit, memoryLimit } = amounts;
  const shares = cpuRequest === undefined && cpuLimit > 0 ? sharesOf(cpuLimit) : sharesOf(cpuRequest ?? 0);
  return {
    cpuShares: shares,
    ...(memoryLimit > 0 && { memoryLimitInBytes: memoryLimit }),
    ...(cpu.quota && {
      cpuPeriod: cpu.periodMicroseconds,
      ...(cpuLimit > 0 && { cpuQuota: quotaOf(cpuLimit, cpu.periodMicroseconds) }),
    }),
  };
}

export const containerAmounts = ({ resources }: Container) => {
  const cpuRequest = resources?.requests?.["cpu"];
  return {
    ...(cpuRequest !== undefined && { cpuRequest: milli(cpuRequest) }),
    cpuLimit: milli(resources?.limits?.["cpu"]),
    memoryLimit: whole(resources?.limits?.["memory"]),
  };
};

/** Returns the maximum amounts the containers of a pod use at one time. */
export function podAmounts(pod: Pod): {
  readonly cpuRequest?: number;
  readonly cpuLimit: number;
  readonly memoryLimit: number;
} {
  const asksForCpu = [...containersOf(pod), ...initContainersOf(pod)].some(
    ({ resources }) => resources?.requests?.["cpu"] !== undefined,
  );
  return {
    ...(asksForCpu && { cpuRequest: podResource(pod, "requests", "cpu") }),
    cpuLimit: podResource(pod, "limits", "cpu"),
    memoryLimit: podResource(pod, "limits", "memory"),
  };
}

export function overheadResources(pod: Pod, cpu: CpuSettings): LinuxContainerResources {
  const { overhead } = pod.spec;
  if (!overhead || Object.keys(overhead).length === 0) return {};
  const milliCpu = milli(overhead["cpu"]);
  return linuxResources(
    { cpuRequest: milliCpu, cpuLimit: milliCpu, memoryLimit: whole(overhead["memory"]) },
    cpu,
  );
}

/** Returns the OOM score adjustment: from -997, killed last, to 1000, killed first. */
export function oomScoreOf(
  pod: Pod,
  container: Container,
  memoryCapacityBytes: number,
  dialect: Dialect,
): number {
  if (pod.spec.priorityClassName === "system-node-critical" && isCritical(pod, dialect)) return -997;
  const qos = qosClass(pod);
  if (qos === "Guaranteed") return -997;
  if (qos === "BestEffort") return 1000;
  const score =
    1000 - Math.floor((1000 * whole(container.resources?.requests?.["memory"])) / memoryCapacityBytes);
  if (score < 3) return 3;
  return score === 1000 ? 999 : score;
}

/** Returns a limit for every page size of the kernel; 0 where the container requests none. */
export function hugepageLimits(
  container: Container,
  sizes: readonly string[],
): { pageSize: string; limit: number }[] {
  const requested = new Map<string, number>();
  for (const [name, amount] of Object.entries(container.resources?.limits ?? {})) {
    if (name.startsWith("hugepages-"))
      requested.set(kernelPageSize(name.slice("hugepages-".length)), whole(amount));
  }
  return sizes.map((pageSize) => ({ pageSize, limit: requested.get(pageSize) ?? 0 }));
}

/** Converts a size such as `2Mi` to the notation of the hugetlb cgroup: `2MB`. */
function kernelPageSize(size: string): string {
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  let bytes = whole(size);
  let unit = 0;
  for (; bytes >= 1024 && bytes % 1024 === 0; unit++) bytes /= 1024;
  return `${bytes}${units[unit] ?? ""}`;
}
