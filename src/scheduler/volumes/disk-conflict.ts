// Network disks that are given in pods themselves: a node mounts one for several pods only if all of them read.
import type { Volume } from "#api";
import type { SeenPod } from "../node-info.ts";

interface Disk {
  /** Identifies the disk among those of its kind; disks with a name in common are the same. */
  readonly names: readonly string[];
  readonly isReadOnly: boolean;
}

function diskOf({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): Disk | undefined {
  const disk = (kind: string, names: readonly string[], isReadOnly = false): Disk => ({
    names: names.map((name) => `${kind} ${name}`),
    isReadOnly,
  });
  if (gcePersistentDisk) return disk("gce", [gcePersistentDisk.pdName], gcePersistentDisk.readOnly);
  // A block store conflicts even with readers.
  if (awsElasticBlockStore) return disk("aws", [awsElasticBlockStore.volumeID]);
  if (iscsi) return disk("iscsi", [iscsi.iqn], iscsi.readOnly);
  if (!rbd) return undefined;
  const { monitors, pool, image, readOnly } = rbd;
  return disk(
    "rbd",
    (monitors ?? []).map((monitor) => JSON.stringify([monitor, pool, image])),
    readOnly,
  );
}

export const disksOf = ({ spec }: SeenPod): readonly Disk[] =>
  (spec.volumes ?? []).flatMap((volume) => diskOf(volume) ?? []);

/** Reports whether the disks cannot be mounted together. */
export const conflicts = (a: Disk, b: Disk): boolean =>
  !(a.isReadOnly && b.isReadOnly) && a.names.some((name) => b.names.includes(name));
