// Tells the runtime the addresses of this node's pods, when they become known and when they change.
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";

export interface PodRangeOptions {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly log: Log;
  /** Empty until it is known. */
  readonly range: () => string;
}

const lookMilliseconds = 10_000;
/** Leaves 65536 addresses. */
const widestV6 = 112;

/**
 * Of an IPv6 range only the first 65536 addresses are given out: whoever keeps books on them must be able to.
 */
export const boundedRange = (range: string): string =>
  range
    .split(",")
    .map((part) => {
      const [address = "", bits = ""] = part.split("/");
      return address.includes(":") && Number(bits) < widestV6 ? `${address}/${widestV6}` : part;
    })
    .join(",");

/** Follows until the signal is aborted. */
export async function podRange(
  { runtime, clock, log, range }: PodRangeOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let told = ""; !signal.aborted;) {
    const wanted = boundedRange(range());
    if (wanted !== told) {
      try {
        await runtime.updateRuntimeConfig({ networkConfig: { podCidr: wanted } }, signal);
        told = wanted;
      } catch (error) {
        log.warn("failed to update pod CIDR in the runtime", { error: (error as Error).message });
      }
    }
    await clock.sleep(lookMilliseconds, signal).catch(() => undefined);
  }
}
