// What a persistent volume may be: exactly one source, of a size, mountable in some way.
import { type CSIPersistentVolumeSource, PersistentVolumeSource, type PersistentVolumeSpec } from "#api";
import { type FieldError, forbiddenField, invalidValue, notSupported, parseQuantity, required, tooLong } from "#base";
import type { Dialect } from "#dialect";
import { dns1123SubdomainProblems } from "#schema";
import { nodeSelectorErrors } from "./pod-validation/affinity.ts";
import { noBacksteps } from "./pod-validation/paths.ts";
import {
  awsErrors,
  azureDiskErrors,
  cephfsErrors,
  fcErrors,
  flexErrors,
  flockerErrors,
  gceErrors,
  iscsiErrors,
  nfsErrors,
  quobyteErrors,
  rbdErrors,
  scaleIoErrors,
} from "./pod-validation/volume-vendors.ts";
import { formatErrors } from "./rules/format.ts";
import { supported } from "./rules/one-of.ts";

export const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
export const volumeModes = ["Block", "Filesystem"];
const hostPathTypes = ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];

/** Volumes described inside an attachment are not bound to claims, and come from CSI drivers only. */
export type Place = "standing alone" | "inline";

export function volumeSpecErrors(spec: PersistentVolumeSpec, path: string, dialect: Dialect, place: Place = "standing alone"): FieldError[] {
  const errors = [...accessModeErrors(spec.accessModes ?? [], `${path}.accessModes`), ...(place === "inline" ? inlineErrors(spec, path) : standingErrors(spec, path))];
  return [...errors, ...sourceErrors(spec, path, dialect)];
}

export function accessModeErrors(modes: readonly string[], field: string): FieldError[] {
  const errors = modes.length > 0 ? modes.flatMap((mode) => supported(mode, field, accessModes)) : [required(field)];
  const others = modes.some((mode) => mode !== "ReadWriteOncePod" && accessModes.includes(mode));
  if (modes.includes("ReadWriteOncePod") && others) errors.push(forbiddenField(field, "may not use ReadWriteOncePod with other access modes"));
  return errors;
}

function inlineErrors(spec: PersistentVolumeSpec, path: string): FieldError[] {
  const errors = (["claimRef", "capacity", "nodeAffinity", "storageClassName"] as const)
    .filter((key) => spec[key] && (typeof spec[key] === "string" || Object.keys(spec[key]).length > 0))
    .map((key) => forbiddenField(`${path}.${key}`, "may not be specified in the context of inline volumes"));
  if (!spec.csi) errors.push(required(`${path}.csi`, "has to be specified in the context of inline volumes"));
  const { persistentVolumeReclaimPolicy: policy, volumeMode } = spec;
  if (policy && policy !== "Retain") errors.push(forbiddenField(`${path}.persistentVolumeReclaimPolicy`, "may only be Retain in the context of inline volumes"));
  if (volumeMode !== undefined && volumeMode !== "Filesystem") errors.push(forbiddenField(`${path}.volumeMode`, "may only be Filesystem in the context of inline volumes"));
  return errors;
}

function standingErrors(spec: PersistentVolumeSpec, path: string): FieldError[] {
  const { capacity = {}, persistentVolumeReclaimPolicy: policy, storageClassName, volumeMode, nodeAffinity } = spec;
  const sizes = Object.entries(capacity);
  const errors = sizes.length > 0 ? [] : [required(`${path}.capacity`)];
  if (!Object.hasOwn(capacity, "storage") || sizes.length > 1) errors.push(notSupported(`${path}.capacity`, capacity, ["storage"]));
  for (const [name, size] of sizes) {
    const value = parseQuantity(size).value;
    const wrong = (detail: string): FieldError => invalidValue(`${path}.capacity[${name}]`, size, detail);
    if (value < 0n) errors.push(wrong("must be a valid resource quantity"));
    if (value <= 0n) errors.push(wrong("must be greater than zero"));
  }
  if (policy) errors.push(...supported(policy, `${path}.persistentVolumeReclaimPolicy`, ["Delete", "Recycle", "Retain"]));
  if (nodeAffinity)
    errors.push(...(nodeAffinity.required ? nodeSelectorErrors(nodeAffinity.required, `${path}.nodeAffinity.required`) : [required(`${path}.nodeAffinity.required`)]));
  if (storageClassName) errors.push(...formatErrors(storageClassName, `${path}.storageClassName`, dns1123SubdomainProblems));
  if (volumeMode !== undefined) errors.push(...supported(volumeMode, `${path}.volumeMode`, volumeModes));
  return errors;
}

/** In the order in which they are looked at: of several, the first counts. */
const sources = ["hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi"] as const satisfies readonly (keyof PersistentVolumeSource)[]; // prettier-ignore

function sourceErrors(spec: PersistentVolumeSpec, path: string, dialect: Dialect): FieldError[] {
  const given = sources.filter((key) => spec[key] !== undefined);
  const first = given[0];
  if (first === undefined) return [required(path, "must specify a volume type")];
  const errors = given.slice(1).map((key) => forbiddenField(`${path}.${key === "cephfs" ? "cephFS" : key}`, "may not specify more than 1 volume type"));
  const recycled = spec.hostPath && /^\/+(\.?\/*)*$/.test(spec.hostPath.path) && spec.persistentVolumeReclaimPolicy === "Recycle";
  if (recycled) errors.push(forbiddenField(`${path}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'"));
  return [...errors, ...oneSourceErrors(spec, first, path, dialect)];
}

const needed = (source: object, keys: readonly string[], at: string): FieldError[] =>
  keys.filter((key) => !(source as Record<string, unknown>)[key]).map((key) => required(`${at}.${key}`));

function oneSourceErrors(spec: PersistentVolumeSpec, key: (typeof sources)[number], path: string, dialect: Dialect): FieldError[] {
  const at = `${path}.${key}`;
  switch (key) {
    case "hostPath": {
      const { path: directory, type } = spec.hostPath!;
      if (!directory) return [required(`${at}.path`)];
      return [...noBacksteps(directory, `${at}.path`), ...(type === undefined ? [] : supported(type, `${at}.type`, hostPathTypes))];
    }
    case "local": {
      const errors = spec.local!.path ? noBacksteps(spec.local!.path, `${at}.path`) : [required(`${at}.path`)];
      return spec.nodeAffinity?.required?.nodeSelectorTerms?.length ? errors : [...errors, required(`${path}.nodeAffinity`, "Local volume requires node affinity")];
    }
    case "gcePersistentDisk":
      return gceErrors(spec.gcePersistentDisk!, `${path}.persistentDisk`);
    case "awsElasticBlockStore":
      return awsErrors(spec.awsElasticBlockStore!, at);
    case "glusterfs":
      return needed(spec.glusterfs!, ["endpoints", "path"], at);
    case "flocker":
      return flockerErrors(spec.flocker!, at);
    case "nfs":
      return nfsErrors(spec.nfs!, at);
    case "rbd":
      return rbdErrors(spec.rbd as never, at);
    case "quobyte":
      return quobyteErrors(spec.quobyte!, at);
    case "cephfs":
      return cephfsErrors(spec.cephfs as never, at);
    case "iscsi":
      return iscsiErrors(spec.iscsi as never, at);
    case "cinder":
      return needed(spec.cinder!, ["volumeID"], at);
    case "fc":
      return fcErrors(spec.fc!, at);
    case "flexVolume":
      return flexErrors(spec.flexVolume as never, dialect, at);
    case "azureFile":
      return needed(spec.azureFile!, ["secretName", "shareName"], at);
    case "vsphereVolume":
      return needed(spec.vsphereVolume!, ["volumePath"], at);
    case "photonPersistentDisk":
      return needed(spec.photonPersistentDisk!, ["pdID"], at);
    case "portworxVolume":
      return needed(spec.portworxVolume!, ["volumeID"], at);
    case "azureDisk":
      return azureDiskErrors(spec.azureDisk!, at);
    case "scaleIO":
      return scaleIoErrors(spec.scaleIO as never, at);
    case "storageos":
      return needed(spec.storageos!, ["volumeName"], at);
    case "csi":
      return csiErrors(spec.csi!, at);
  }
}

const longestDriver = 63;

export function driverNameErrors(name: string, field: string): FieldError[] {
  const errors = name ? [] : [required(field)];
  if (name.length > longestDriver) errors.push(tooLong(field, name, longestDriver));
  return [...errors, ...dns1123SubdomainProblems(name.toLowerCase()).map((detail) => invalidValue(field, name, detail))];
}

function csiErrors(csi: CSIPersistentVolumeSource, at: string): FieldError[] {
  const errors = [...driverNameErrors(csi.driver, `${at}.driver`), ...needed(csi, ["volumeHandle"], at)];
  for (const key of ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"] as const) {
    if (csi[key]) errors.push(...needed(csi[key], ["name", "namespace"], `${at}.${key}`));
  }
  return errors;
}

/** The fields of the spec that say where the storage is. */
export const sourceKeys = Object.keys(PersistentVolumeSource.fields) as readonly (keyof PersistentVolumeSource)[];
