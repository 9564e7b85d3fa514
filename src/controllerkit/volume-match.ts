// Matching of persistent volumes to claims, shared by the volume binder and the scheduler.
import type { PersistentVolume, PersistentVolumeClaim } from "#api";
import { compareQuantity, fromLabelSelector, parseQuantity } from "#base";
import type { AnyObject } from "#client";
import type { Dialect } from "#dialect";

export type SeenVolume = PersistentVolume & AnyObject;
export type SeenClaim = PersistentVolumeClaim & AnyObject;

/** Returns the storage class of a claim; the beta annotation takes precedence. */
export const claimClass = ({ metadata, spec }: SeenClaim, { names }: Dialect): string =>
  metadata.annotations?.[names.annotations.betaStorageClass] ?? spec.storageClassName ?? "";
export const volumeClass = ({ metadata, spec }: SeenVolume, { names }: Dialect): string =>
  metadata.annotations?.[names.annotations.betaStorageClass] ?? spec.storageClassName ?? "";

/** Reports whether the volume's claimRef names this claim. */
export function isReservedFor({ spec }: SeenVolume, { metadata }: SeenClaim): boolean {
  const reference = spec.claimRef;
  if (!reference || reference.name !== metadata.name || reference.namespace !== metadata.namespace)
    return false;
  return !reference.uid || reference.uid === metadata.uid;
}

const sizeOf = (quantity: string | undefined): ReturnType<typeof parseQuantity> =>
  parseQuantity(quantity ?? "0");

export const isLargeEnough = ({ spec }: SeenVolume, claim: SeenClaim): boolean =>
  compareQuantity(sizeOf(spec.capacity?.["storage"]), sizeOf(claim.spec.resources.requests?.["storage"])) >=
  0;

export const hasModes = ({ spec }: SeenVolume, claim: SeenClaim): boolean =>
  (claim.spec.accessModes ?? []).every((mode) => spec.accessModes?.includes(mode));

export const sameVolumeMode = ({ spec }: SeenVolume, claim: SeenClaim): boolean =>
  (spec.volumeMode ?? "Filesystem") === (claim.spec.volumeMode ?? "Filesystem");

export interface MatchOptions {
  readonly dialect: Dialect;
  /** Names of volumes that are assigned to other claims. */
  readonly excluded?: ReadonlySet<string>;
  /** Reports whether the node in question can access the volume; by default every volume is accessible. */
  readonly isReachable?: (volume: SeenVolume) => boolean;
  /** Considers only volumes reserved for the claim, as for a claim that waits for its first consumer. */
  readonly onlyReserved?: boolean;
}

/** Returns the volume reserved for the claim, or else the smallest available one that fits. */
export function findMatchingVolume(
  claim: SeenClaim,
  volumes: Iterable<SeenVolume>,
  { dialect, excluded, isReachable = () => true, onlyReserved = false }: MatchOptions,
): SeenVolume | undefined {
  const wantedClass = claimClass(claim, dialect);
  const selector = claim.spec.selector ? fromLabelSelector(claim.spec.selector) : undefined;
  let smallest: SeenVolume | undefined;
  for (const volume of volumes) {
    if (excluded?.has(volume.metadata.name!) || volume.metadata.deletionTimestamp) continue;
    if (!sameVolumeMode(volume, claim) || !isLargeEnough(volume, claim)) continue;
    if (isReservedFor(volume, claim)) return isReachable(volume) ? volume : undefined;
    if (onlyReserved || volume.spec.claimRef || volume.status.phase !== "Available") continue;
    if (volumeClass(volume, dialect) !== wantedClass || !hasModes(volume, claim)) continue;
    if (selector && !selector.matches({ labels: volume.metadata.labels ?? {}, fields: {} })) continue;
    if (!isReachable(volume)) continue;
    if (
      !smallest ||
      compareQuantity(
        sizeOf(volume.spec.capacity?.["storage"]),
        sizeOf(smallest.spec.capacity?.["storage"]),
      ) < 0
    )
      smallest = volume;
  }
  return smallest;
}
