// Claims, volumes and storage classes as the scheduler sees them, including volumes assumed by pods being
// bound.
import type { CSINode, StorageClass } from "#api";
import { type AnyObject, kinds } from "#client";
import type { ClusterView, SeenClaim, SeenVolume } from "#controllerkit";
import type { ClusterEvent } from "../framework.ts";
import type { SeenPod } from "../node-info.ts";

export interface VolumeView {
  claim(namespace: string, name: string): SeenClaim | undefined;
  volume(name: string): SeenVolume | undefined;
  volumes(): Iterable<SeenVolume>;
  storageClass(name: string): (StorageClass & AnyObject) | undefined;
  csiNode(name: string): (CSINode & AnyObject) | undefined;
  /** Volumes assumed by claims of pods that are being bound. */
  readonly assumed: Set<string>;
  /** Nodes for which provisioning was requested, by claim. */
  readonly provisioning: Map<string, string>;
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
  return {
    claim: (namespace, name) => claims.get(namespace, name),
    volume: (name) => volumes.get(undefined, name),
    volumes: () => volumes.items(),
    storageClass: (name) => classes.get(undefined, name),
    csiNode: (name) => csiNodes.get(undefined, name),
    assumed: new Set(),
    provisioning: new Map(),
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
