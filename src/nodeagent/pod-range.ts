// Passes the node's pod CIDR to the runtime when it becomes known and when it changes.
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";

export interface PodRangeOptions {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the pod CIDR; empty until it is known. */
  readonly range: () => string;
}

const pollMilliseconds = 10_000;
/** Prefix length of the widest IPv6 range passed on: 65536 addresses. */
const widestV6 = 112;

/** Limits IPv6 ranges to the first 65536 addresses, so that the address allocator can keep track of them. */
export const boundedRange = (range: string): string =>
  range
    .split(",")
    .map((part) => {
      const [address = "", bits = ""] = part.split("/");
      return address.includes(":") && Number(bits) < widestV6 ? `${address}/${widestV6}` : part;
    })
    .join(",");

/** Runs until the signal is aborted. */
export async function podRange(
  { runtime, clock, log, range }: PodRangeOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let current = ""; !signal.aborted;) {
    const wanted = boundedRange(range());
    if (wanted !== current) {
      try {
        await runtime.updateRuntimeConfig({ networkConfig: { podCidr: wanted } }, signal);
        current = wanted;
      } catch (error) {
        log.warn("failed to update pod CIDR in the runtime", { error: (error as Error).message });
      }
    }
    await clock.sleep(pollMilliseconds, signal).catch(() => undefined);
  }
}
