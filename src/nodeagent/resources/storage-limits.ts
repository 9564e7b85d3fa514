// Ends pods that take more of the node's disk than they may: by an emptyDir's own limit, or by their
// containers' limits for local storage.
import type { Pod } from "#api";
import { type Clock, type Log, parseQuantity, quantityValue } from "#base";
import { containersOf, initContainersOf, keyOf, referenceTo, uidOf } from "../pod.ts";
import type { EventRecorder, PodEvictor, PodRegistry } from "../seams.ts";
import { diskUsage } from "./disk-usage.ts";
import type { PodFigures, Stats } from "./stats.ts";

export interface StorageLimitsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: PodRegistry;
  readonly evictor: PodEvictor;
  readonly events: EventRecorder;
  readonly stats: Pick<Stats, "look">;
  /** Told when a pod is ended, and by which limit. */
  readonly onEvicted?: (signal: Excess["signal"]) => void;
  /** EmptyDirs on disk that have a limit. */
  readonly limited: (
    pod: Pod,
  ) => readonly { readonly volume: string; readonly path: string; readonly limit: string }[];
}

/** Which limit was passed, and the words for it. */
export interface Excess {
  readonly signal: "emptydirfs.limit" | "ephemeralpodfs.limit" | "ephemeralcontainerfs.limit";
  readonly message: string;
}

const periodMilliseconds = 10_000;
const storage = "ephemeral-storage";

/** Goes round until the signal is aborted. */
export async function storageLimits(options: StorageLimitsOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await options.clock.sleep(periodMilliseconds, signal).catch(() => undefined);
    if (!signal.aborted) await enforceStorageLimits(options);
  }
}

/** Looks at every pod that has a limit, once. */
export async function enforceStorageLimits({
  registry,
  evictor,
  events,
  stats,
  limited,
  log,
  onEvicted,
}: StorageLimitsOptions): Promise<void> {
  for (const pod of registry.pods()) {
    if (pod.status?.phase !== "Running" && pod.status?.phase !== "Pending") continue;
    try {
      const excess =
        (await emptyDirExcess(limited(pod))) ??
        (hasStorageLimit(pod)
          ? storageExcess(
              pod,
              (await stats.look()).pods.find(({ uid }) => uid === uidOf(pod)),
            )
          : undefined);
      if (excess === undefined) continue;
      const { signal, message } = excess;
      onEvicted?.(signal);
      log.info("a pod takes more disk than it may", { pod: keyOf(pod), message });
      events.event(referenceTo(pod), "Warning", "Evicted", message);
      await evictor.evict(uidOf(pod), { reason: "Evicted", message });
    } catch (error) {
      log.error("a pod's use of disk could not be judged", {
        pod: keyOf(pod),
        error: (error as Error).message,
      });
    }
  }
}

const bytesOf = (amount: string | undefined): number =>
  amount === undefined ? 0 : quantityValue(parseQuantity(amount));

async function emptyDirExcess(
  volumes: ReturnType<StorageLimitsOptions["limited"]>,
): Promise<Excess | undefined> {
  for (const { volume, path, limit } of volumes) {
    if ((await diskUsage(path)).bytes > bytesOf(limit)) {
      return {
        signal: "emptydirfs.limit",
        message: `Usage of EmptyDir volume ${JSON.stringify(volume)} exceeds the limit ${JSON.stringify(limit)}. `,
      };
    }
  }
  return undefined;
}

const hasStorageLimit = (pod: Pod): boolean =>
  containersOf(pod).some(({ resources }) => bytesOf(resources?.limits?.[storage]) > 0);

/** The pod as a whole first, then each container by itself. */
export function storageExcess(
  pod: Pod,
  figures: Pick<PodFigures, "containers" | "volumes"> | undefined,
): Excess | undefined {
  if (!figures) return undefined;
  const limitOf = (name: string): string | undefined =>
    containersOf(pod).find((one) => one.name === name)?.resources?.limits?.[storage];
  const used = ({ rootfs, logs }: PodFigures["containers"][number]): number => rootfs.bytes + logs.bytes;
  const limits = containersOf(pod).map(({ resources }) => bytesOf(resources?.limits?.[storage]));
  if (limits.every((limit) => limit > 0)) {
    const most = Math.max(
      limits.reduce((sum, limit) => sum + limit, 0),
      ...initContainersOf(pod).map(({ resources }) => bytesOf(resources?.limits?.[storage])),
    );
    const total =
      figures.containers.reduce((sum, one) => sum + used(one), 0) +
      figures.volumes.reduce((sum, { isLocal, used: { bytes } }) => sum + (isLocal ? bytes : 0), 0);
    const shown = limits.length === 1 ? limitOf(containersOf(pod)[0]!.name) : String(most);
    if (total > most)
      return {
        signal: "ephemeralpodfs.limit",
        message: `Pod ephemeral local storage usage exceeds the total limit of containers ${shown}. `,
      };
  }
  const over = figures.containers.find(
    (one) => bytesOf(limitOf(one.name)) > 0 && used(one) > bytesOf(limitOf(one.name)),
  );
  return (
    over && {
      signal: "ephemeralcontainerfs.limit",
      message: `Container ${over.name} exceeded its local ephemeral storage limit ${JSON.stringify(limitOf(over.name))}. `,
    }
  );
}
