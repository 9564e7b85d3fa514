// Memory settings in addition to the limit: swap according to the node's swap behavior, and throttling below
// the limit (cgroup v2 only).
import type { Container } from "#api";
import { parseQuantity, quantityValue } from "#base";
import type { LinuxContainerResources } from "#cri";
import type { ContainerContributor } from "../interfaces.ts";

export interface MemoryExtras {
  /** Undefined if pods may not use swap. */
  readonly swap: "" | "LimitedSwap" | "UnlimitedSwap" | undefined;
  /** Undefined if memory is not throttled. */
  readonly throttlingFactor: number | undefined;
  /** Returns the node's allocatable memory, used for containers without a limit. */
  readonly allocatableBytes: () => number;
}

const pageBytes = 4096;
const unlimited = -1;

export const memoryContributor = (extras: MemoryExtras): ContainerContributor => ({
  contribute: async (_, container) => ({
    resources: { ...swapResources(container, extras), ...throttlingResources(container, extras) },
  }),
});

/** Returns the combined memory and swap limit: the memory limit, or unlimited. */
export function swapResources(
  container: Container,
  { swap }: Pick<MemoryExtras, "swap">,
): Partial<LinuxContainerResources> {
  if (swap === undefined) return {};
  if (swap === "UnlimitedSwap") return { memorySwapLimitInBytes: unlimited };
  const limit = bytesOf(container, "limits");
  return limit > 0 ? { memorySwapLimitInBytes: limit } : {};
}

/**
 * Protects the request (memory.min), and lets the kernel throttle a container above memory.high before its
 * limit kills it.
 */
export function throttlingResources(
  container: Container,
  { throttlingFactor, allocatableBytes }: Omit<MemoryExtras, "swap">,
): Partial<LinuxContainerResources> {
  if (throttlingFactor === undefined) return {};
  const request = bytesOf(container, "requests");
  const limit = bytesOf(container, "limits");
  const unified: Record<string, string> = {};
  if (request > 0) unified["memory.min"] = String(request);
  if (request !== limit) {
    const most = limit > 0 ? limit : allocatableBytes();
    const high = Math.floor((request + (most - request) * throttlingFactor) / pageBytes) * pageBytes;
    if (high > request) unified["memory.high"] = String(high);
  }
  return Object.keys(unified).length > 0 ? { unified } : {};
}

const bytesOf = ({ resources }: Container, kind: "requests" | "limits"): number =>
  quantityValue(parseQuantity(resources?.[kind]?.["memory"] ?? "0"));
