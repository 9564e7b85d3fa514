// Volumes that one node at a time may have: while a node has such a volume, no other gets it attached, and the
// pods that wait for it are told who uses it.
import type { SeenVolume } from "#controllerkit";
import type { SeenPod } from "../pods.ts";

const sharedModes = ["ReadWriteMany", "ReadOnlyMany"];

/** A volume that says nothing of its access is left to its driver. */
export function isExclusive({ spec }: SeenVolume): boolean {
  const modes = spec.accessModes ?? [];
  return modes.length > 0 && !modes.some((mode) => sharedModes.includes(mode));
}

/** What a pod is told whose volume other nodes have; pods of other namespaces are only counted. */
export function multiAttachText(volume: SeenVolume, pod: SeenPod, users: readonly SeenPod[]): string {
  const local = users.filter(({ metadata }) => metadata.namespace === pod.metadata.namespace);
  const foreign = users.length - local.length;
  const names = local.map(({ metadata }) => metadata.name).join(", ");
  const inOthers = `${foreign} pod(s) in different namespaces`;
  const why =
    users.length === 0
      ? "Volume is already exclusively attached to one node and can't be attached to another"
      : local.length === 0
        ? `Volume is already used by ${inOthers}`
        : `Volume is already used by pod(s) ${names}${foreign > 0 ? ` and ${inOthers}` : ""}`;
  return `Multi-Attach error for volume "${volume.metadata.name}" ${why}`;
}
