// Access modes of volumes. ReadWriteOncePod can be switched off.
import type { RegistrySettings } from "../../strategy.ts";

export const readWriteOncePod = "ReadWriteOncePod";
export const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", readWriteOncePod];

/** Returns the allowed modes. An object that has a mode which is switched off may keep it. */
export const allowedModes = (
  { oncePodVolumes }: Pick<RegistrySettings, "oncePodVolumes">,
  before: readonly string[] = [],
): readonly string[] =>
  oncePodVolumes === false && !before.includes(readWriteOncePod)
    ? accessModes.filter((mode) => mode !== readWriteOncePod)
    : accessModes;
