// The data recorded next to a mounted CSI volume, from which a restarted agent can tear it down. File name
// and keys are the kubelet's.
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

/** Reads the recorded data; returns undefined if it is missing or unreadable. */
export async function readVolumeData(directory: string): Promise<VolumeData | undefined> {
  const found: Partial<VolumeData> | undefined = await readRecord(dataPath(directory));
  return typeof found?.driverName === "string" && typeof found.volumeHandle === "string"
    ? (found as VolumeData)
    : undefined;
}

export const writeVolumeData = (directory: string, data: VolumeData): Promise<void> =>
  writeRecord(dataPath(directory), data);

export const removeVolumeData = (directory: string): Promise<void> => removeRecord(dataPath(directory));

/** Removes the temporary file that an agent leaves behind if it is killed while recording. */
export const removeVolumeDataDraft = (directory: string): Promise<void> => removeDraft(dataPath(directory));

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Returns the name of the VolumeAttachment of a volume on a node. */
export const attachmentName = (handle: string, driver: string, nodeName: string): string =>
  `csi-${hashOf(`${handle}${driver}${nodeName}`)}`;
/** Returns the handle of an inline ephemeral volume. */
export const ephemeralHandle = (podUid: string, volumeName: string): string =>
  `csi-${hashOf(`${podUid}${volumeName}`)}`;
/** Returns the directory in which a volume is staged for all pods of the node. */
export const stagingDirectory = (plugins: string, driver: string, handle: string): string =>
  join(plugins, driver, hashOf(handle));
