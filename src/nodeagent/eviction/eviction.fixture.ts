// Concise constructors of pods with their usage, for eviction tests.
import type { Pod } from "#api";
import { parseQuantity, quantityValue } from "#base";
import type { MeasuredPod } from "./usage.ts";

export interface Sketch {
  readonly name: string;
  readonly priority?: number;
  readonly memory?: string;
  readonly storage?: string;
  readonly storageLimit?: string;
  readonly sizeLimit?: string;
  readonly workingSet?: string;
  readonly rootfs?: string;
  readonly logs?: string;
  readonly volume?: string;
  readonly inodes?: number;
  readonly processes?: number;
}

const bytes = (text: string | undefined): number => (text ? quantityValue(parseQuantity(text)) : 0);

export function measuredPod(sketch: Sketch): MeasuredPod {
  const { name, priority = 0, memory, storage, storageLimit, sizeLimit } = sketch;
  const resources = {
    requests: { ...(memory && { memory }), ...(storage && { "ephemeral-storage": storage }) },
    limits: { ...(storageLimit && { "ephemeral-storage": storageLimit }) },
  };
  const pod = {
    metadata: { name, namespace: "default", uid: name },
    spec: {
      priority,
      containers: [{ name: "c", resources }],
      volumes: [{ name: "v", emptyDir: sizeLimit ? { sizeLimit } : {} }],
    },
    status: { phase: "Running" },
  } as unknown as Pod;
  const rootfs = { bytes: bytes(sketch.rootfs), inodes: sketch.inodes ?? 0 };
  const logs = { bytes: bytes(sketch.logs), inodes: 0 };
  const volume = { bytes: bytes(sketch.volume), inodes: 0 };
  return {
    pod,
    usage: {
      workingSetBytes: bytes(sketch.workingSet),
      processes: sketch.processes ?? 0,
      ephemeralBytes: rootfs.bytes + logs.bytes + volume.bytes,
      containers: [{ name: "c", workingSetBytes: bytes(sketch.workingSet), rootfs, logs }],
      volumes: [{ name: "v", used: volume, isLocal: true }],
      files: { bytes: 0, inodes: 0 },
    },
  };
}
