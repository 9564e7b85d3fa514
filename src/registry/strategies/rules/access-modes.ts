// How volumes may be mounted. Volumes for a single pod can be switched off.
import type { RegistrySettings } from "../../strategy.ts";

export const oncePod = "ReadWriteOncePod";
export const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", oncePod];

/** An object that has a mode which is switched off keeps it. */
export const allowedModes = (
  { oncePodVolumes }: Pick<RegistrySettings, "oncePodVolumes">,
  before: readonly string[] = [],
): readonly string[] =>
  oncePodVolumes === false && !before.includes(oncePod)
    ? accessModes.filter((mode) => mode !== oncePod)
    : accessModes;
