// Validation of volume mounts and block devices of a container.
import type { Container, VolumeSource } from "#api";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "#base";
import { descendingPath, noBacksteps } from "./paths.ts";

export type KnownVolumes = ReadonlyMap<string, VolumeSource>;

const propagations = ["Bidirectional", "HostToContainer", "None"];
const notFoundError = (field: string, value: string): FieldError => ({
  type: "FieldValueNotFound",
  field,
  value,
  detail: "",
});

export function volumeMountErrors(
  { volumeMounts, volumeDevices, securityContext }: Container,
  volumes: KnownVolumes,
  path: string,
): FieldError[] {
  const deviceNames = new Set((volumeDevices ?? []).map(({ name }) => name));
  const devicePaths = new Set((volumeDevices ?? []).map(({ devicePath }) => devicePath));
  const seen = new Set<string>();
  return (volumeMounts ?? []).flatMap(
    ({ name, mountPath, subPath, subPathExpr, mountPropagation }, position) => {
      const at = `${path}[${position}]`;
      const errors: FieldError[] = [];
      if (!name) errors.push(required(`${at}.name`));
      if (!volumes.has(name)) errors.push(notFoundError(`${at}.name`, name));
      if (!mountPath) errors.push(required(`${at}.mountPath`));
      if (seen.has(mountPath)) errors.push(invalidValue(`${at}.mountPath`, mountPath, "must be unique"));
      seen.add(mountPath);
      if (deviceNames.has(name))
        errors.push(invalidValue(`${at}.name`, name, "must not already exist in volumeDevices"));
      if (devicePaths.has(mountPath))
        errors.push(
          invalidValue(`${at}.mountPath`, mountPath, "must not already exist as a path in volumeDevices"),
        );
      // The reference reports these errors with the path of the list, without the index.
      if (subPath) errors.push(...descendingPath(subPath, `${path}.subPath`));
      if (subPathExpr && subPath)
        errors.push(
          invalidValue(`${at}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive"),
        );
      if (subPathExpr) errors.push(...descendingPath(subPathExpr, `${path}.subPathExpr`));
      if (mountPropagation === undefined) return errors;
      if (!propagations.includes(mountPropagation))
        errors.push(notSupported(`${path}.mountPropagation`, mountPropagation, propagations));
      if (mountPropagation === "Bidirectional" && !securityContext?.privileged)
        errors.push(
          forbiddenField(
            `${path}.mountPropagation`,
            "Bidirectional mount propagation is available only to privileged containers",
          ),
        );
      return errors;
    },
  );
}

export function volumeDeviceErrors(
  { volumeMounts, volumeDevices }: Container,
  volumes: KnownVolumes,
  path: string,
): FieldError[] {
  const mountNames = new Set((volumeMounts ?? []).map(({ name }) => name));
  const mountPaths = new Set((volumeMounts ?? []).map(({ mountPath }) => mountPath));
  const [names, paths] = [new Set<string>(), new Set<string>()];
  return (volumeDevices ?? []).flatMap(({ name, devicePath }, position) => {
    const at = `${path}[${position}]`;
    const errors: FieldError[] = [];
    const volume = volumes.get(name);
    if (!name) errors.push(required(`${at}.name`));
    if (names.has(name)) errors.push(invalidValue(`${at}.name`, name, "must be unique"));
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral)
      errors.push(
        invalidValue(
          `${at}.name`,
          name,
          "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
        ),
      );
    if (!volume) errors.push(notFoundError(`${at}.name`, name));
    if (!devicePath) errors.push(required(`${at}.devicePath`));
    if (paths.has(devicePath)) errors.push(invalidValue(`${at}.devicePath`, devicePath, "must be unique"));
    if (noBacksteps(devicePath, "").length > 0)
      errors.push(invalidValue(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')"));
    else paths.add(devicePath);
    if (mountNames.has(name))
      errors.push(invalidValue(`${at}.name`, name, "must not already exist in volumeMounts"));
    if (mountPaths.has(devicePath))
      errors.push(
        invalidValue(`${at}.devicePath`, devicePath, "must not already exist as a path in volumeMounts"),
      );
    if (name) names.add(name);
    return errors;
  });
}
