// Which persistent volume fits a claim: said once for the binder and the scheduler.
import type { PersistentVolume, PersistentVolumeClaim } from "#api";
import { compareQuantity, fromLabelSelector, parseQuantity } from "#base";
import type { AnyObject } from "#client";
import type { Dialect } from "#dialect";

export type SeenVolume = PersistentVolume & AnyObject;
export type SeenClaim = PersistentVolumeClaim & AnyObject;

/** The class of a claim; the older annotation wins. */
export const claimClass = ({ metadata, spec }: SeenClaim, { names }: Dialect): string =>
  metadata.annotations?.[names.annotations.betaStorageClass] ?? spec.storageClassName ?? "";
export const volumeClass = ({ metadata, spec }: SeenVolume, { names }: Dialect): string =>
  metadata.annotations?.[names.annotations.betaStorageClass] ?? spec.storageClassName ?? "";

/** Whether the volume is reserved for this very claim. */
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
  /** Volumes that are promised to others. */
  readonly excluded?: ReadonlySet<string>;
  /** Whether a node can reach the volume; without a node every volume can be reached. */
  readonly isReachable?: (volume: SeenVolume) => boolean;
  /** A claim that waits for its first consumer takes only volumes reserved for it. */
  readonly onlyReserved?: boolean;
}

/** The volume reserved for the claim, or the smallest that fits. */
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
