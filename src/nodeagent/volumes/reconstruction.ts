// Reconstructs the volumes an earlier agent left on the node from their directories. Volumes that are not
// recognized are removed by the generic teardown once no pod uses them.
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { VolumeMetrics, VolumePlugin } from "../interfaces.ts";

export interface ReconstructionOptions {
  readonly podsFolder: string;
  readonly plugins: readonly VolumePlugin[];
  /** Returns the directory name of a plugin. */
  readonly kindFolder: (kind: string) => string;
  readonly volumeMetrics: Pick<VolumeMetrics, "reconstructed" | "forceCleaned"> | undefined;
}

export interface Reconstruction {
  run(): Promise<void>;
  /** Called when a pod's volumes are mounted: none of them counts as unknown any longer. */
  mounted(podUid: string): void;
  /** Called with the result of tearing down a pod's volumes. */
  released(podUid: string, isGood: boolean): void;
}

export function reconstruction(options: ReconstructionOptions): Reconstruction {
  const { podsFolder, plugins, kindFolder, volumeMetrics } = options;
  /** The number of unrecognized volumes by pod uid. */
  const unknown = new Map<string, number>();

  return {
    run: async () => {
      for (const uid of await namesIn(podsFolder))
        for (const folder of ["volumes", "volumeDevices"] as const)
          for (const kind of await namesIn(join(podsFolder, uid, folder)))
            for (const name of await namesIn(join(podsFolder, uid, folder, kind))) {
              const isGood = await isKnown(folder, kind, join(podsFolder, uid, folder, kind, name));
              volumeMetrics?.reconstructed(isGood);
              if (!isGood) unknown.set(uid, (unknown.get(uid) ?? 0) + 1);
            }
    },
    mounted: (uid) => void unknown.delete(uid),
    released: (uid, isGood) => {
      for (let left = unknown.get(uid) ?? 0; left > 0; left--) volumeMetrics?.forceCleaned(isGood);
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
    await plugin.adopt?.({ name: basename(directory), directory, isDevice: folder === "volumeDevices" });
    if (folder === "volumeDevices") return plugin.unmap !== undefined;
    return plugin.isRecorded ? await plugin.isRecorded(directory) : true;
  }
}

const namesIn = async (folder: string): Promise<string[]> => await readdir(folder).catch(() => []);
