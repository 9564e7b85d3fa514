// Reads the eviction signals: memory, process counts, and the file systems of the node and of images.
import { stat } from "node:fs/promises";
import type { Clock } from "#base";
import type { ContainerRuntime } from "#cri";
import type { CgroupTree } from "../resources/cgroup-tree.ts";
import { cgroupUsage } from "../resources/cgroup-usage.ts";
import { type Filesystem, type Machine, filesystemOf, runningProcesses } from "../resources/machine.ts";
import { nodeMemory } from "../resources/node-memory.ts";
import { type Observations, observationsOf } from "./observations.ts";

export interface NodeReaderOptions {
  readonly clock: Clock;
  readonly runtime: Pick<ContainerRuntime, "imageFsInfo">;
  readonly machine: Pick<Machine, "memoryBytes" | "maxPids">;
  readonly tree: CgroupTree;
  readonly podsGroup: string;
  readonly rootDirectory: string;
}

export interface NodeReader {
  observe(signal: AbortSignal): Promise<Observations>;
  /**
   * Reports whether images are on a dedicated file system; undefined while the runtime has not reported it.
   */
  dedicatedImageFs(): boolean | undefined;
  /**
   * Returns the image file system; its capacity is 0 until the node has been observed once, like in the
   * kubelet.
   */
  imageDisk(signal: AbortSignal): Promise<Filesystem>;
}

const unknownDisk: Filesystem = {
  capacityBytes: 0,
  availableBytes: 0,
  freeBytes: 0,
  inodes: 0,
  inodesFree: 0,
};

export function nodeReader(options: NodeReaderOptions): NodeReader {
  const { clock, runtime, machine, tree } = options;
  let hasObserved = false;
  let images: { readonly path: string; readonly isDedicated: boolean } | undefined;

  return {
    dedicatedImageFs: () => images?.isDedicated,
    imageDisk: async (signal) => {
      const isKnown = hasObserved;
      const { path } = await findImages(signal);
      return isKnown ? await filesystemOf(path) : unknownDisk;
    },
    observe: async (signal) => {
      const [memory, running, nodefs, imagefs, pods] = await Promise.all([
        nodeMemory(tree, machine.memoryBytes),
        runningProcesses(),
        filesystemOf(options.rootDirectory),
        findImages(signal).then(
          ({ path }) => filesystemOf(path),
          () => undefined,
        ),
        cgroupUsage(tree, options.podsGroup),
      ]);
      hasObserved = true;
      return observationsOf({
        at: clock.monotonic(),
        memory: { availableBytes: memory.availableBytes, capacityBytes: machine.memoryBytes },
        pods: pods && {
          workingSetBytes: pods.workingSetBytes,
          limitBytes: Math.min(pods.memoryLimitBytes ?? Infinity, machine.memoryBytes),
        },
        nodefs,
        imagefs,
        processes: { running, most: machine.maxPids },
      });
    },
  };

  /** Queries the runtime for the image file system until it responds; the result is cached. */
  async function findImages(signal: AbortSignal): Promise<NonNullable<typeof images>> {
    if (images) return images;
    const [info] = await runtime.imageFsInfo(signal);
    const path = info?.fsId?.mountpoint;
    if (!path) throw new Error("the runtime does not report the image file system");
    const [own, theirs] = await Promise.all([stat(options.rootDirectory), stat(path)]);
    images = { path, isDedicated: own.dev !== theirs.dev };
    return images;
  }
}
