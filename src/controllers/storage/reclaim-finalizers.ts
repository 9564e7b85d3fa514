// The finalizer that keeps a volume until its storage was reclaimed, also where the volume is deleted before its
// claim. Only volumes that were provisioned in the cluster itself have it; drivers keep their own.
import type { SeenVolume } from "#controllerkit";
import type { Dialect } from "#dialect";

/** Plug-ins whose volumes are left to drivers. */
const migrated = ["aws-ebs", "gce-pd", "azure-file", "azure-disk", "cinder", "vsphere-volume"];

/** The finalizers that a volume should have; undefined where it has them. */
export function reclaimFinalizers({ metadata, spec }: SeenVolume, { names }: Dialect): string[] | undefined {
  const { volumeReclaim, externalReclaim } = names.finalizers;
  const provisioner = metadata.annotations?.[names.annotations.provisionedBy] ?? "";
  if (!provisioner.startsWith(names.volumes.pluginPrefix)) return undefined;
  const plugin = provisioner.slice(names.volumes.pluginPrefix.length);
  const before = metadata.finalizers ?? [];
  const after = new Set(before);
  if (migrated.includes(plugin)) after.delete(volumeReclaim);
  else {
    // Whoever deletes a volume of the old kind does not know the drivers' finalizer.
    after.delete(externalReclaim);
    if (spec.persistentVolumeReclaimPolicy === "Delete") {
      // A volume that is being deleted takes no new finalizers.
      if (!metadata.deletionTimestamp) after.add(volumeReclaim);
    } else after.delete(volumeReclaim);
  }
  return after.size === before.length && before.every((each) => after.has(each)) ? undefined : [...after];
}
