// Claims, volumes and storage classes as the scheduler sees them, including volumes assumed by pods being
// bound.
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass } from "#api";
import { type AnyObject, kinds } from "#client";
import type { ClusterView, SeenClaim, SeenVolume } from "#controllerkit";
import type { ClusterEvent } from "../framework.ts";
import type { SeenPod } from "../node-info.ts";

/** The volumes and claims of a pod that is being bound. */
export interface VolumeReservation {
  readonly node: string;
  /** Volumes by the claim that is being bound to them. */
  readonly bound: ReadonlyMap<string, string>;
  /** Claims whose volumes are being provisioned for the node. */
  readonly provisioned: ReadonlySet<string>;
}

export interface VolumeView {
  claim(namespace: string, name: string): SeenClaim | undefined;
  volume(name: string): SeenVolume | undefined;
  volumes(): Iterable<SeenVolume>;
  storageClass(name: string): (StorageClass & AnyObject) | undefined;
  csiNode(name: string): (CSINode & AnyObject) | undefined;
  csiDriver(name: string): (CSIDriver & AnyObject) | undefined;
  /** Returns the storage capacities published for a class. */
  capacities(storageClass: string): readonly (CSIStorageCapacity & AnyObject)[];
  /** Reservations of pods that are being bound, by the pod's uid. */
  readonly reservations: Map<string, VolumeReservation>;
}

export function volumeView(view: ClusterView, onEvent: (event: ClusterEvent) => void): VolumeView {
  const claims = view.follow(kinds.persistentVolumeClaims, ({ type }) => {
    if (type !== "deleted") onEvent("claim");
  });
  const volumes = view.follow(kinds.persistentVolumes, ({ type }) => {
    if (type !== "deleted") onEvent("volume");
  });
  const classes = view.follow(kinds.storageClasses, ({ type }) => {
    if (type !== "deleted") onEvent("storage class");
  });
  const csiNodes = view.follow(kinds.csiNodes, ({ type }) => {
    if (type !== "deleted") onEvent("csi node");
  });
  const drivers = view.follow(kinds.csiDrivers, ({ type }) => {
    if (type !== "deleted") onEvent("csi driver");
  });
  const capacities = view.follow(kinds.csiStorageCapacities, ({ type }) => {
    if (type !== "deleted") onEvent("storage capacity");
  });
  const capacitiesOf = capacities.index("class", ({ storageClassName }) => [storageClassName]);
  return {
    claim: (namespace, name) => claims.get(namespace, name),
    volume: (name) => volumes.get(undefined, name),
    volumes: () => volumes.items(),
    storageClass: (name) => classes.get(undefined, name),
    csiNode: (name) => csiNodes.get(undefined, name),
    csiDriver: (name) => drivers.get(undefined, name),
    capacities: capacitiesOf,
    reservations: new Map(),
  };
}

export interface PodClaim {
  readonly name: string;
  readonly isEphemeral: boolean;
}

/** Returns the claims of a pod's volumes. */
export const claimsOf = ({ metadata, spec }: SeenPod): PodClaim[] =>
  (spec.volumes ?? []).flatMap<PodClaim>(({ name, persistentVolumeClaim, ephemeral }) =>
    persistentVolumeClaim
      ? [{ name: persistentVolumeClaim.claimName, isEphemeral: false }]
      : ephemeral
        ? [{ name: `${metadata.name}-${name}`, isEphemeral: true }]
        : [],
  );
