// Block devices of the node that containers use unmounted: a symbolic link in the pod's directory points to
// the device.
import { lstat, mkdir, readlink, realpath, stat, symlink, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { VolumeOperationError } from "./operation-error.ts";

/** A device that cannot be mapped. */
export class DeviceError extends VolumeOperationError {
  override readonly name = "DeviceError";
  constructor(step: string, volume: string, why: string, options?: ErrorOptions) {
    super("FailedMapVolume", `MapVolume.${step} failed`, volume, why, options);
  }
}

/** Links to the device the path resolves to; reports whether the link is new. */
export async function linkDevice(volume: string, path: string, link: string): Promise<boolean> {
  const device = await realpath(path).catch((error: Error & { code?: string }) => {
    throw new DeviceError(
      "EvalHostSymlinks",
      volume,
      error.code === "ENOENT" ? `lstat ${path}: no such file or directory` : error.message,
      { cause: error },
    );
  });
  const found = await stat(device);
  if (!found.isBlockDevice())
    throw new DeviceError(
      "MapBlockVolume",
      volume,
      `${path} is ${found.isDirectory() ? "a directory" : "a file"}, and no block device`,
    );
  const known = await readlink(link).catch(() => undefined);
  if (known === device) return false;
  await mkdir(dirname(link), { recursive: true, mode: 0o750 });
  // An older link was created by the agent; any other file in its place was not.
  if ((await lstat(link).catch(() => undefined))?.isSymbolicLink()) await unlink(link);
  await symlink(device, link);
  return true;
}
