// Detects pods that exceed a limit of local storage: that of an emptyDir volume, of all containers together,
// or of one container.
import { type Pod, peakUsage, runningContainers } from "#api";
import {
  type Quantity,
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  quantityValue,
} from "#base";
import type { PodUsage } from "./usage.ts";

/** The exceeded limit and the eviction message. */
export interface Excess {
  readonly signal: "emptydirfs.limit" | "ephemeralpodfs.limit" | "ephemeralcontainerfs.limit";
  readonly message: string;
}

const storage = "ephemeral-storage";

export function localStorageExcess(pod: Pod, usage: PodUsage, dedicatedImageFs: boolean): Excess | undefined {
  return emptyDirExcess(pod, usage) ?? podExcess(pod, usage) ?? containerExcess(pod, usage, dedicatedImageFs);
}

export const hasStorageLimit = (pod: Pod): boolean =>
  runningContainers(pod.spec).some(({ resources }) => resources?.limits?.[storage] !== undefined);

function emptyDirExcess(pod: Pod, { volumes }: PodUsage): Excess | undefined {
  for (const { name, emptyDir } of pod.spec.volumes ?? []) {
    const used = volumes.find((volume) => volume.name === name)?.used.bytes;
    if (!emptyDir?.sizeLimit || used === undefined) continue;
    const limit = parseQuantity(emptyDir.sizeLimit);
    if (limit.value > 0n && used > quantityValue(limit))
      return {
        signal: "emptydirfs.limit",
        message: `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(formatQuantity(limit))}. `,
      };
  }
  return undefined;
}

/**
 * Returns the limit of the pod: the maximum its containers may use at one time; undefined if none has a
 * limit.
 */
const podLimit = (pod: Pod): Quantity | undefined =>
  peakUsage<Quantity | undefined>(
    pod.spec,
    ({ resources }) => {
      const limit = resources?.limits?.[storage];
      return limit === undefined ? undefined : parseQuantity(limit);
    },
    {
      none: undefined,
      sum: (a, b) => (a && b ? addQuantity(a, b) : (a ?? b)),
      larger: (a, b) => (a && b ? (compareQuantity(a, b) >= 0 ? a : b) : (a ?? b)),
    },
  );

function podExcess(pod: Pod, { ephemeralBytes }: PodUsage): Excess | undefined {
  const limit = podLimit(pod);
  if (!limit) return undefined;
  return ephemeralBytes > quantityValue(limit)
    ? {
        signal: "ephemeralpodfs.limit",
        message: `Pod ephemeral local storage usage exceeds the total limit of containers ${formatQuantity(limit)}. `,
      }
    : undefined;
}

/** With a dedicated image file system, a container's writable layer does not count as local storage. */
function containerExcess(pod: Pod, usage: PodUsage, dedicatedImageFs: boolean): Excess | undefined {
  for (const { name, rootfs, logs } of usage.containers) {
    const text = runningContainers(pod.spec).find((one) => one.name === name)?.resources?.limits?.[storage];
    const limit = parseQuantity(text ?? "0");
    const used = logs.bytes + (dedicatedImageFs ? 0 : rootfs.bytes);
    if (limit.value > 0n && used > quantityValue(limit))
      return {
        signal: "ephemeralcontainerfs.limit",
        message: `Container ${name} exceeded its local ephemeral storage limit ${JSON.stringify(formatQuantity(limit))}. `,
      };
  }
  return undefined;
}
