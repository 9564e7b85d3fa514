// What containers get of memory beside their limit: swap by the node's behaviour, and throttling before the
// limit is reached (only on control groups of the second version).
import type { Container } from "#api";
import { parseQuantity, quantityValue } from "#base";
import type { LinuxContainerResources } from "#cri";
import type { ContainerContributor } from "../interfaces.ts";

export interface MemoryExtras {
  /** Undefined where pods may not use swap. */
  readonly swap: "" | "LimitedSwap" | "UnlimitedSwap" | undefined;
  /** Undefined where memory is not throttled. */
  readonly throttlingFactor: number | undefined;
  /** What pods may use together, for containers without a limit. */
  readonly allocatableBytes: () => number;
}

const pageBytes = 4096;
const unlimited = -1;

export const memoryContributor = (extras: MemoryExtras): ContainerContributor => ({
  contribute: async (_, container) => ({
    resources: { ...swapResources(container, extras), ...throttlingResources(container, extras) },
  }),
});

/** Memory and swap together stay within the memory limit, or are unlimited. */
export function swapResources(
  container: Container,
  { swap }: Pick<MemoryExtras, "swap">,
): Partial<LinuxContainerResources> {
  if (swap === undefined) return {};
  if (swap === "UnlimitedSwap") return { memorySwapLimitInBytes: unlimited };
  const limit = bytesOf(container, "limits");
  return limit > 0 ? { memorySwapLimitInBytes: limit } : {};
}

/** The request is protected; above it the kernel slows a container down before its limit kills it. */
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
