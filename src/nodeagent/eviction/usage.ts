// Usage and requests of pods for the resources of the eviction signals.
import type { Pod } from "#api";
import { podRequests } from "../plan/pod-resources.ts";
import type { DiskUsage } from "../resources/disk-usage.ts";
import type { PodStats } from "../resources/stats.ts";
import type { Signal } from "./thresholds.ts";

export interface ContainerUsage {
  readonly name: string;
  readonly workingSetBytes: number;
  readonly rootfs: DiskUsage;
  readonly logs: DiskUsage;
}

export interface PodUsage {
  readonly workingSetBytes: number;
  readonly processes: number;
  /** Writable layers, logs, files of the agent and local volumes together. */
  readonly ephemeralBytes: number;
  /** Files of the agent that containers can write to. */
  readonly files: DiskUsage;
  readonly containers: readonly ContainerUsage[];
  /** Volumes with their usage; local ones count as the pod's ephemeral storage. */
  readonly volumes: readonly { readonly name: string; readonly used: DiskUsage; readonly isLocal: boolean }[];
}

/** A pod with its usage; undefined if it is unknown. */
export interface MeasuredPod {
  readonly pod: Pod;
  readonly usage: PodUsage | undefined;
}

export function usageOf(
  stats: Pick<PodStats, "usage" | "containers" | "files"> & { readonly volumes: PodUsage["volumes"] },
): PodUsage {
  const { usage, containers, volumes, files } = stats;
  return {
    workingSetBytes:
      usage?.workingSetBytes ?? containers.reduce((sum, { workingSetBytes }) => sum + workingSetBytes, 0),
    processes: usage?.processes ?? 0,
    ephemeralBytes:
      containers.reduce((sum, { rootfs, logs }) => sum + rootfs.bytes + logs.bytes, 0) +
      volumes.reduce((sum, { isLocal, used }) => sum + (isLocal ? used.bytes : 0), 0) +
      files.bytes,
    files,
    containers,
    volumes,
  };
}

/** The resource of each signal, as named in messages. */
export const resourceOf: Readonly<Record<Signal, "memory" | "ephemeral-storage" | "inodes" | "pids">> = {
  "memory.available": "memory",
  "allocatableMemory.available": "memory",
  "nodefs.available": "ephemeral-storage",
  "nodefs.inodesFree": "inodes",
  "imagefs.available": "ephemeral-storage",
  "imagefs.inodesFree": "inodes",
  "pid.available": "pids",
};

/**
 * Returns the disk usage that counts for a signal. With a dedicated image file system, only what is on that
 * disk.
 */
export function diskUseOf(usage: PodUsage, signal: Signal, dedicatedImageFs: boolean): number {
  const unit = resourceOf[signal] === "inodes" ? "inodes" : "bytes";
  const ofImages = signal.startsWith("imagefs.");
  const rootfs = !dedicatedImageFs || ofImages;
  const rest = !dedicatedImageFs || !ofImages;
  let sum = 0;
  for (const container of usage.containers)
    sum += (rootfs ? container.rootfs[unit] : 0) + (rest ? container.logs[unit] : 0);
  if (rest) for (const { isLocal, used } of usage.volumes) if (isLocal) sum += used[unit];
  return rest ? sum + usage.files[unit] : sum;
}

export const requestOf = (pod: Pod, resource: string): number => podRequests(pod).get(resource) ?? 0;
