// Image garbage collection: when disk usage exceeds the high threshold, removes unused images, least recently
// used first, until it is below the low one; under disk pressure removes all of them. The choice is made by
// pure functions.
import type { ObjectReference } from "#api";
import type { Clock, Log } from "#base";
import type { ContainerRuntime, Image } from "#cri";
import type { EventRecorder } from "../interfaces.ts";

export interface ImageRecord {
  readonly id: string;
  readonly sizeBytes: number;
  readonly isPinned: boolean;
  readonly isUsed: boolean;
  readonly firstSeenAt: number;
  /** -Infinity if it was never seen in use. */
  readonly lastUsedAt: number;
}

export interface ImageThresholds {
  readonly highPercent: number;
  readonly lowPercent: number;
}

/** Returns the images that may be removed, in the order of removal. */
export function collectableImages(
  records: readonly ImageRecord[],
  now: number,
  minimumAgeMilliseconds: number,
): ImageRecord[] {
  return records
    .filter(
      ({ isUsed, isPinned, lastUsedAt, firstSeenAt }) =>
        !isUsed && !isPinned && lastUsedAt < now && now - firstSeenAt >= minimumAgeMilliseconds,
    )
    .toSorted((a, b) => compare(a.lastUsedAt, b.lastUsedAt) || compare(a.firstSeenAt, b.firstSeenAt));
}

/** Returns the images that have been unused for longer than the maximum age, regardless of disk usage. */
export function outdatedImages(
  records: readonly ImageRecord[],
  now: number,
  maximumAgeMilliseconds: number,
  startedAt: number,
): ImageRecord[] {
  // The last use of images that existed before the agent started is unknown: they count as used at its start.
  const unusedSince = ({ lastUsedAt, firstSeenAt }: ImageRecord): number =>
    Math.max(lastUsedAt, firstSeenAt, startedAt);
  return records.filter(
    (record) => !record.isUsed && !record.isPinned && now - unusedSince(record) > maximumAgeMilliseconds,
  );
}

/** Compares numbers that may be infinite, whose difference is NaN. */
const compare = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the bytes to free to reach the low threshold; 0 if usage is below the high one. */
export function bytesToFree(
  disk: { readonly capacityBytes: number; readonly availableBytes: number },
  { highPercent, lowPercent }: ImageThresholds,
): number {
  const capacity = disk.capacityBytes;
  const available = Math.min(disk.availableBytes, capacity);
  const usedPercent = 100 - Math.trunc((available * 100) / capacity);
  if (usedPercent < highPercent) return 0;
  return Math.trunc((capacity * (100 - lowPercent)) / 100) - available;
}

export interface ImageCollectionOptions extends ImageThresholds {
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: Pick<ContainerRuntime, "listImages" | "listContainers" | "removeImage">;
  readonly events: EventRecorder;
  readonly node: ObjectReference;
  readonly minimumAgeMilliseconds: number;
  /** 0 means no maximum age. */
  readonly maximumAgeMilliseconds: number;
  /** The sandbox image, which no container refers to. */
  readonly sandboxImage: string;
  readonly disk: (signal: AbortSignal) => Promise<{ capacityBytes: number; availableBytes: number }>;
}

export interface ImageCollection {
  /** Collects once by the thresholds; rejects if too little could be freed. */
  collect(signal: AbortSignal): Promise<void>;
  /** Removes every unused image. */
  removeUnused(signal: AbortSignal): Promise<void>;
  /** Collects periodically until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

const periodMilliseconds = 300_000;
/** The number in messages that stands for an unlimited amount. */
const maxBytes = 2n ** 63n - 1n;

export function imageCollection(options: ImageCollectionOptions): ImageCollection {
  const { clock, log, runtime, events, node } = options;
  let seen = new Map<string, { readonly firstSeenAt: number; readonly lastUsedAt: number }>();
  let hasDetected = false;
  const startedAt = clock.monotonic();

  return { collect, removeUnused: (signal) => free(Infinity, signal).then(() => undefined), run };

  async function collect(signal: AbortSignal): Promise<void> {
    await removeOutdated(signal);
    const disk = await options.disk(signal);
    if (disk.capacityBytes === 0) {
      // Record the current images as existing before; those that appear until the next pass are new.
      await detectImages(clock.monotonic(), signal);
      throw failure("InvalidDiskCapacity", "invalid capacity 0 on image filesystem");
    }
    const bytesWanted = bytesToFree(disk, options);
    if (bytesWanted <= 0) {
      await detectImages(clock.monotonic(), signal);
      return;
    }
    log.info("image disk usage is above the high threshold", {
      highPercent: options.highPercent,
      freeBytes: bytesWanted,
    });
    const freed = await free(bytesWanted, signal);
    if (freed < bytesWanted)
      throw failure(
        "FreeDiskSpaceFailed",
        `Failed to garbage collect required amount of images. Attempted to free ${bytesWanted} bytes, but only found ${freed} bytes eligible to free.`,
      );
  }

  function failure(reason: string, message: string): Error {
    events.event(node, "Warning", reason, message);
    return new Error(message);
  }

  async function free(wanted: number, signal: AbortSignal): Promise<number> {
    const now = clock.monotonic();
    const unused = collectableImages(await detectImages(now, signal), now, options.minimumAgeMilliseconds);
    return await remove(unused, wanted, signal);
  }

  async function removeOutdated(signal: AbortSignal): Promise<void> {
    const { maximumAgeMilliseconds: limit } = options;
    const now = clock.monotonic();
    if (limit > 0)
      await remove(outdatedImages(await detectImages(now, signal), now, limit, startedAt), Infinity, signal);
  }

  async function remove(
    records: readonly ImageRecord[],
    wanted: number,
    signal: AbortSignal,
  ): Promise<number> {
    let freed = 0;
    const failures: string[] = [];
    for (const record of records) {
      if (freed >= wanted || signal.aborted) break;
      try {
        await runtime.removeImage({ image: record.id, annotations: {} }, signal);
        seen.delete(record.id);
        freed += record.sizeBytes;
        log.info("removed unused image", { image: record.id, bytes: record.sizeBytes });
      } catch (error) {
        const { message } = error as Error;
        log.warn("failed to remove unused image", { image: record.id, error: message });
        failures.push(message);
      }
    }
    if (failures.length > 0 && !signal.aborted)
      throw new Error(
        `wanted to free ${Number.isFinite(wanted) ? wanted : maxBytes} bytes, but freed ${freed} bytes space with errors in image deletion: ${joinMessages(failures)}`,
      );
    return freed;
  }

  /** Detects images and their use. Images found by the first detection count as old. */
  async function detectImages(now: number, signal: AbortSignal): Promise<ImageRecord[]> {
    const [images, containers] = await Promise.all([
      runtime.listImages(undefined, signal),
      runtime.listContainers(undefined, signal),
    ]);
    const inUse = new Set(containers.flatMap(({ image, imageRef }) => [image?.image ?? "", imageRef]));
    inUse.add(options.sandboxImage);
    const records = images.map((image): ImageRecord => {
      const isUsed = namesOf(image).some((name) => inUse.has(name));
      const before = seen.get(image.id);
      return {
        id: image.id,
        sizeBytes: Number(image.size),
        isPinned: image.pinned,
        isUsed,
        firstSeenAt: before?.firstSeenAt ?? (hasDetected ? now : -Infinity),
        lastUsedAt: isUsed ? now : (before?.lastUsedAt ?? -Infinity),
      };
    });
    seen = new Map(records.map(({ id, firstSeenAt, lastUsedAt }) => [id, { firstSeenAt, lastUsedAt }]));
    hasDetected = true;
    return records;
  }

  async function run(signal: AbortSignal): Promise<void> {
    // A high threshold of 100 disables collection, unless there is a maximum age. Image use is recorded
    // anyway, for disk pressure.
    const isOff = options.highPercent >= 100 && options.maximumAgeMilliseconds === 0;
    const pass = isOff ? () => detectImages(clock.monotonic(), signal) : () => collect(signal);
    let failures = 0;
    while (!signal.aborted) {
      try {
        await pass();
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        const { message } = error as Error;
        failures++;
        log.warn("image garbage collection failed", { error: message });
        // A single failure may mean that the runtime is not up yet.
        if (failures > 1) events.event(node, "Warning", "ImageGCFailed", message);
      }
      await clock.sleep(periodMilliseconds, signal).catch(() => undefined);
    }
  }
}

/** Joins error messages without duplicates, like Go's aggregate error. */
function joinMessages(messages: readonly string[]): string {
  const different = [...new Set(messages)];
  return different.length === 1 ? different[0]! : `[${different.join(", ")}]`;
}

const namesOf = ({ id, repoTags, repoDigests }: Image): string[] => [id, ...repoTags, ...repoDigests];
