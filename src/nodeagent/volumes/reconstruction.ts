// The volumes that an earlier agent left on the node: found when this one starts, and known by what lies there.
// Those that are not known are taken away by the generic teardown once no pod has them.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { VolumeMetrics, VolumePlugin } from "../interfaces.ts";

export interface ReconstructionOptions {
  readonly podsFolder: string;
  readonly plugins: readonly VolumePlugin[];
  /** The name of the folder of a kind of volumes. */
  readonly kindFolder: (kind: string) => string;
  readonly tally: Pick<VolumeMetrics, "reconstructed" | "forceCleaned"> | undefined;
}

export interface Reconstruction {
  run(): Promise<void>;
  /** A pod has its volumes again: whatever was not known of them is known now. */
  mounted(podUid: string): void;
  /** What a pod had was taken away, or was not. */
  released(podUid: string, isGood: boolean): void;
}

export function reconstruction(options: ReconstructionOptions): Reconstruction {
  const { podsFolder, plugins, kindFolder, tally } = options;
  /** How many volumes of each pod are not known. */
  const unknown = new Map<string, number>();

  return {
    run: async () => {
      for (const uid of await namesIn(podsFolder))
        for (const folder of ["volumes", "volumeDevices"] as const)
          for (const kind of await namesIn(join(podsFolder, uid, folder)))
            for (const name of await namesIn(join(podsFolder, uid, folder, kind))) {
              const isGood = await isKnown(folder, kind, join(podsFolder, uid, folder, kind, name));
              tally?.reconstructed(isGood);
              if (!isGood) unknown.set(uid, (unknown.get(uid) ?? 0) + 1);
            }
    },
    mounted: (uid) => void unknown.delete(uid),
    released: (uid, isGood) => {
      for (let left = unknown.get(uid) ?? 0; left > 0; left--) tally?.forceCleaned(isGood);
      if (isGood) unknown.delete(uid);
    },
  };

  async function isKnown(
    folder: "volumes" | "volumeDevices",
    kind: string,
    directory: string,
  ): Promise<boolean> {
    const plugin = plugins.find(({ name }) => kindFolder(name) === kind);
    if (!plugin) return false;
    if (folder === "volumeDevices") return plugin.unmap !== undefined;
    return plugin.isRecorded ? await plugin.isRecorded(directory) : true;
  }
}

const namesIn = async (folder: string): Promise<string[]> => await readdir(folder).catch(() => []);
