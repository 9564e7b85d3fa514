// The finalizer that keeps a volume until its storage is reclaimed, even if the volume is deleted before its
// claim. Only for volumes provisioned in-tree; drivers use a finalizer of theirs.
import type { SeenVolume } from "#controllerkit";
import type { Dialect } from "#dialect";

/** In-tree plugins that are migrated to CSI drivers. */
const migrated = ["aws-ebs", "gce-pd", "azure-file", "azure-disk", "cinder", "vsphere-volume"];

/** Returns the finalizers that a volume should have; undefined if it has them already. */
export function reclaimFinalizers({ metadata, spec }: SeenVolume, { names }: Dialect): string[] | undefined {
  const { volumeReclaim, externalReclaim } = names.finalizers;
  const provisioner = metadata.annotations?.[names.annotations.provisionedBy] ?? "";
  if (!provisioner.startsWith(names.volumes.pluginPrefix)) return undefined;
  const plugin = provisioner.slice(names.volumes.pluginPrefix.length);
  const before = metadata.finalizers ?? [];
  const after = new Set(before);
  if (migrated.includes(plugin)) after.delete(volumeReclaim);
  else {
    // In-tree deletion does not know the external provisioner's finalizer.
    after.delete(externalReclaim);
    if (spec.persistentVolumeReclaimPolicy === "Delete") {
      // A volume that is being deleted must not gain finalizers.
      if (!metadata.deletionTimestamp) after.add(volumeReclaim);
    } else after.delete(volumeReclaim);
  }
  return after.size === before.length && before.every((each) => after.has(each)) ? undefined : [...after];
}
