// Reads what eviction watches: memory, process numbers, and the file systems of the node and of images.
import { stat } from "node:fs/promises";
import type { Clock } from "#base";
import type { ContainerRuntime } from "#cri";
import type { CgroupTree } from "../resources/cgroup-tree.ts";
import { cgroupUsage } from "../resources/cgroup-usage.ts";
import { type Filesystem, type Machine, filesystemOf, momentOf } from "../resources/machine.ts";
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
  /** Whether images have a disk of their own; undefined while the runtime does not say where they are. */
  dedicatedImageFs(): boolean | undefined;
  imageDisk(signal: AbortSignal): Promise<Filesystem>;
}

export function nodeReader(options: NodeReaderOptions): NodeReader {
  const { clock, runtime, machine, tree } = options;
  let images: { readonly path: string; readonly isDedicated: boolean } | undefined;

  return {
    dedicatedImageFs: () => images?.isDedicated,
    imageDisk: async (signal) => await filesystemOf((await findImages(signal)).path),
    observe: async (signal) => {
      const [moment, nodefs, imagefs, pods] = await Promise.all([
        momentOf(),
        filesystemOf(options.rootDirectory),
        findImages(signal).then(
          ({ path }) => filesystemOf(path),
          () => undefined,
        ),
        cgroupUsage(tree, options.podsGroup),
      ]);
      return observationsOf({
        at: clock.now(),
        memory: { availableBytes: moment.availableMemoryBytes, capacityBytes: machine.memoryBytes },
        pods: pods && {
          workingSetBytes: pods.workingSetBytes,
          limitBytes: Math.min(pods.memoryLimitBytes ?? Infinity, machine.memoryBytes),
        },
        nodefs,
        imagefs,
        processes: { running: moment.processes, most: machine.maxPids },
      });
    },
  };

  /** Images stay where they are while the runtime runs: it is asked until it answers. */
  async function findImages(signal: AbortSignal): Promise<NonNullable<typeof images>> {
    if (images) return images;
    const [info] = await runtime.imageFsInfo(signal);
    const path = info?.fsId?.mountpoint;
    if (!path) throw new Error("the runtime does not say where images are");
    const [own, theirs] = await Promise.all([stat(options.rootDirectory), stat(path)]);
    images = { path, isDedicated: own.dev !== theirs.dev };
    return images;
  }
}
