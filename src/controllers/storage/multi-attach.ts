// Single-node volumes: while one is attached to a node, it is not attached to another, and waiting pods get
// an event that names its users.
import type { SeenVolume } from "#controllerkit";
import type { SeenPod } from "../pods.ts";

const sharedModes = ["ReadWriteMany", "ReadOnlyMany"];

/** Reports whether only one node may use the volume; without access modes that is left to its driver. */
export function isExclusive({ spec }: SeenVolume): boolean {
  const modes = spec.accessModes ?? [];
  return modes.length > 0 && !modes.some((mode) => sharedModes.includes(mode));
}

/**
 * Formats the event for a pod whose volume is attached elsewhere; pods of other namespaces are only counted.
 */
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
