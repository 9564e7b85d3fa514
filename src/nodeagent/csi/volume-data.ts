// What is recorded beside a mounted volume of a driver, so that an agent that knows nothing else can take it
// down again: the same file and keys as the kubelet's.
import { createHash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface VolumeData {
  readonly driverName: string;
  readonly volumeHandle: string;
  readonly specVolID: string;
  readonly nodeName: string;
  readonly attachmentID: string;
  readonly volumeLifecycleMode: "Persistent" | "Ephemeral";
}

export const volumeDataFile = "vol_data.json";

/** Undefined when there is none that can be read. */
export async function readVolumeData(directory: string): Promise<VolumeData | undefined> {
  try {
    const found = JSON.parse(await readFile(join(directory, volumeDataFile), "utf8")) as Partial<VolumeData>;
    return typeof found.driverName === "string" && typeof found.volumeHandle === "string"
      ? (found as VolumeData)
      : undefined;
  } catch {
    return undefined;
  }
}

export async function writeVolumeData(directory: string, data: VolumeData): Promise<void> {
  const path = join(directory, volumeDataFile);
  await writeFile(`${path}.new`, JSON.stringify(data), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The attachment of a volume to a node. */
export const attachmentName = (handle: string, driver: string, nodeName: string): string =>
  `csi-${hashOf(`${handle}${driver}${nodeName}`)}`;
/** The handle of a volume that lives and dies with its pod. */
export const ephemeralHandle = (podUid: string, volumeName: string): string =>
  `csi-${hashOf(`${podUid}${volumeName}`)}`;
/** The directory in which a volume is made ready for all pods of the node. */
export const stagingDirectory = (plugins: string, driver: string, handle: string): string =>
  join(plugins, driver, hashOf(handle));
