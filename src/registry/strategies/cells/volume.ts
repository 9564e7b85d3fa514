// Table cells for storage kinds.
import type { ObjectMeta } from "#api";

// prettier-ignore
const shortModes = [["ReadWriteOnce", "RWO"], ["ReadOnlyMany", "ROX"], ["ReadWriteMany", "RWX"], ["ReadWriteOncePod", "RWOP"]] as const;

export const accessModesText = (modes: readonly string[] | undefined): string =>
  shortModes
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(",");

export const phaseText = ({ deletionTimestamp }: ObjectMeta, phase: string | undefined): string =>
  deletionTimestamp ? "Terminating" : (phase ?? "");

/** Returns the class, which older objects name in an annotation of their dialect. */
export function classText({ annotations }: ObjectMeta, className: string | undefined): string {
  const key = Object.keys(annotations ?? {}).find((name) =>
    /^volume\.beta\.[^/]+\/storage-class$/.test(name),
  );
  return key === undefined ? (className ?? "") : annotations![key]!;
}

/** Reports whether the class is annotated as the default class. */
export const isDefaultClass = ({ annotations }: ObjectMeta): boolean =>
  Object.entries(annotations ?? {}).some(
    ([name, value]) => /^storageclass\.(beta\.)?[^/]+\/is-default-class$/.test(name) && value === "true",
  );
