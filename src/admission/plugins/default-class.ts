// Assigns the default class to claims and ingresses without one; the newest of several default classes.
import type { Ingress, IngressClass, ObjectMeta, PersistentVolumeClaim, StorageClass } from "#api";
import type { Dialect } from "#dialect";
import { type AdmissionPlugin, typed } from "../attributes.ts";

interface Class {
  readonly metadata: ObjectMeta;
}

export function defaultStorageClass(
  { names: { annotations: names } }: Dialect,
  all: () => Promise<readonly StorageClass[]>,
): AdmissionPlugin {
  return {
    name: "DefaultStorageClass",
    handles: ["CREATE"],
    resources: ["persistentvolumeclaims"],
    mutate: async ({ resource, subresource, object }) => {
      if (resource.group !== "" || subresource) return;
      const { metadata, spec } = typed<PersistentVolumeClaim>(object);
      // An empty name, or the deprecated annotation, requests no class.
      if (spec.storageClassName !== undefined || metadata.annotations?.[names.betaStorageClass] !== undefined)
        return;
      const found = newest(await all(), [names.defaultStorageClass, names.betaDefaultStorageClass]);
      if (found) spec.storageClassName = found.metadata.name!;
    },
  };
}

export function defaultIngressClass(
  { names: { annotations: names } }: Dialect,
  all: () => Promise<readonly IngressClass[]>,
): AdmissionPlugin {
  return {
    name: "DefaultIngressClass",
    handles: ["CREATE"],
    resources: ["ingresses"],
    mutate: async ({ kind, subresource, object }) => {
      if (kind.kind !== "Ingress" || subresource) return;
      const { metadata, spec } = typed<Ingress>(object);
      if (spec.ingressClassName !== undefined || metadata.annotations?.[names.ingressClass] !== undefined)
        return;
      const found = newest(await all(), [names.defaultIngressClass]);
      if (found) spec.ingressClassName = found.metadata.name!;
    },
  };
}

function newest<C extends Class>(
  classes: readonly C[],
  defaultAnnotations: readonly string[],
): C | undefined {
  const createdAt = ({ metadata }: C): string => metadata.creationTimestamp ?? "";
  return classes
    .filter(({ metadata }) =>
      defaultAnnotations.some((annotation) => metadata.annotations?.[annotation] === "true"),
    )
    .toSorted((a, b) =>
      createdAt(a) === createdAt(b)
        ? a.metadata.name! < b.metadata.name!
          ? -1
          : 1
        : createdAt(a) > createdAt(b)
          ? -1
          : 1,
    )[0];
}
