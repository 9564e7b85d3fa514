// Observations of the node for each eviction signal.
import { type Quantity, type QuantityFormat, quantityOf } from "#base";
import type { Filesystem } from "../resources/machine.ts";
import type { Signal } from "./thresholds.ts";

export interface Observation {
  readonly available: Quantity;
  readonly capacity: Quantity;
  /** Time of the observation; an observation that is not newer than the last one causes no eviction. */
  readonly at: number;
}

export type Observations = ReadonlyMap<Signal, Observation>;

export interface NodeReading {
  readonly at: number;
  readonly memory: { readonly availableBytes: number; readonly capacityBytes: number };
  /** Usage and limit of all pods together; undefined if no limit is enforced. */
  readonly pods?: { readonly workingSetBytes: number; readonly limitBytes: number } | undefined;
  readonly nodefs: Filesystem;
  /** Undefined while the runtime has not reported the image file system. */
  readonly imagefs?: Filesystem | undefined;
  readonly processes: { readonly running: number; readonly most: number };
}

export function observationsOf(reading: NodeReading): Observations {
  const { at, memory, pods, nodefs, imagefs, processes } = reading;
  const found = new Map<Signal, Observation>();
  const set = (
    signal: Signal,
    available: number,
    capacity: number,
    format: QuantityFormat = "BinarySI",
  ): void => {
    found.set(signal, {
      available: quantityOf(available, 0, format),
      capacity: quantityOf(capacity, 0, format),
      at,
    });
  };
  set("memory.available", memory.availableBytes, memory.capacityBytes);
  if (pods)
    set(
      "allocatableMemory.available",
      Math.max(0, pods.limitBytes - pods.workingSetBytes),
      Math.max(pods.limitBytes, pods.workingSetBytes),
    );
  const disks = [
    ["nodefs", nodefs],
    ["imagefs", imagefs],
  ] as const;
  for (const [name, disk] of disks) {
    if (!disk) continue;
    set(`${name}.available`, disk.availableBytes, disk.capacityBytes);
    // A file system that does not count inodes cannot run out of them.
    if (disk.inodes > 0) set(`${name}.inodesFree`, disk.inodesFree, disk.inodes, "DecimalSI");
  }
  set("pid.available", processes.most - processes.running, processes.most, "DecimalSI");
  return found;
}
