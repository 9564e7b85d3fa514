// Protects volumes and claims in use, and restricts the expansion of claims to classes that allow it.
import type { PersistentVolumeClaim, StorageClass } from "#api";
import { compareQuantity, forbidden, parseQuantity } from "#base";
import type { Dialect } from "#dialect";
import { type AdmissionPlugin, typed } from "../attributes.ts";

/** Adds a finalizer to new claims and volumes, which a controller removes when they are no longer used. */
export function storageProtection({ names: { finalizers } }: Dialect): AdmissionPlugin {
  const marks: Readonly<Record<string, string>> = {
    persistentvolumeclaims: finalizers.claimProtection,
    persistentvolumes: finalizers.volumeProtection,
  };
  return {
    name: "StorageObjectInUseProtection",
    handles: ["CREATE"],
    resources: Object.keys(marks),
    mutate: async ({ resource, subresource, object }) => {
      if (resource.group !== "" || subresource) return;
      const { metadata } = typed<PersistentVolumeClaim>(object);
      const mark = marks[resource.resource]!;
      if (!metadata.finalizers?.includes(mark)) metadata.finalizers = [...(metadata.finalizers ?? []), mark];
    },
  };
}

export function claimResize(
  { names: { annotations } }: Dialect,
  find: (name: string) => Promise<StorageClass | undefined>,
): AdmissionPlugin {
  const sizeOf = ({ spec }: PersistentVolumeClaim) =>
    parseQuantity(spec.resources.requests?.["storage"] ?? "0");
  const classOf = ({ metadata, spec }: PersistentVolumeClaim): string =>
    metadata.annotations?.[annotations.betaStorageClass] ?? spec.storageClassName ?? "";
  return {
    name: "PersistentVolumeClaimResize",
    handles: ["UPDATE"],
    resources: ["persistentvolumeclaims"],
    validate: async ({ resource, subresource, name, object, oldObject }) => {
      if (resource.group !== "" || subresource) return [];
      const claim = typed<PersistentVolumeClaim>(object);
      const old = typed<PersistentVolumeClaim>(oldObject);
      if (compareQuantity(sizeOf(claim), sizeOf(old)) <= 0) return [];
      if (old.status.phase !== "Bound")
        throw forbidden(resource, name, "only bound persistent volume claims can be expanded");
      const className = classOf(claim);
      const grows = className && className === classOf(old) && (await find(className))?.allowVolumeExpansion;
      if (!grows)
        throw forbidden(
          resource,
          name,
          "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
        );
      return [];
    },
  };
}
