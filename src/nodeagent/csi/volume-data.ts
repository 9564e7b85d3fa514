// What is recorded beside a mounted volume of a driver, so that an agent that knows nothing else can take it
// down again: the same file and keys as the kubelet's.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { readRecord, removeDraft, removeRecord, writeRecord } from "../volumes/record-file.ts";

export interface VolumeData {
  readonly driverName: string;
  readonly volumeHandle: string;
  readonly specVolID: string;
  readonly nodeName: string;
  readonly attachmentID: string;
  readonly volumeLifecycleMode: "Persistent" | "Ephemeral";
}

const dataPath = (directory: string): string => join(directory, "vol_data.json");

/** Undefined when there is none that can be read. */
export async function readVolumeData(directory: string): Promise<VolumeData | undefined> {
  const found: Partial<VolumeData> | undefined = await readRecord(dataPath(directory));
  return typeof found?.driverName === "string" && typeof found.volumeHandle === "string"
    ? (found as VolumeData)
    : undefined;
}

export const writeVolumeData = (directory: string, data: VolumeData): Promise<void> =>
  writeRecord(dataPath(directory), data);

export const removeVolumeData = (directory: string): Promise<void> => removeRecord(dataPath(directory));

/** Where nothing was recorded, only the remains of an agent that was killed while it did may be there. */
export const removeVolumeDataDraft = (directory: string): Promise<void> => removeDraft(dataPath(directory));

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
