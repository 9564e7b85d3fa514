// Validation of persistent volume specs.
import {
  type CSIPersistentVolumeSource,
  type ISCSIPersistentVolumeSource,
  PersistentVolumeSource,
  type PersistentVolumeSpec,
} from "#api";
import {
  type FieldError,
  LiteralValue,
  forbiddenField,
  invalidValue,
  notSupported,
  parseQuantity,
  required,
  tooLong,
} from "#base";
import type { Dialect } from "#dialect";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import { nodeSelectorErrors } from "./pod-validation/affinity.ts";
import { noBacksteps } from "./pod-validation/paths.ts";
import { hostPathTypes } from "./pod-validation/volume-sources.ts";
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
import { accessModes, readWriteOncePod } from "./rules/access-modes.ts";
import { formatErrors } from "./rules/format.ts";
import { supported } from "./rules/one-of.ts";

export const volumeModes = ["Block", "Filesystem"];

/**
 * Where the volume spec occurs. Volumes inline in an attachment have no name, are not bound to claims, and
 * must be CSI volumes.
 */
export type Place = "inline" | { readonly name: string | undefined; readonly accessModes: readonly string[] };

export function volumeSpecErrors(
  spec: PersistentVolumeSpec,
  path: string,
  dialect: Dialect,
  place: Place,
): FieldError[] {
  const inline = place === "inline";
  return [
    ...(inline ? inlineErrors(spec, path) : []),
    ...accessModeErrors(
      spec.accessModes ?? [],
      `${path}.accessModes`,
      inline ? accessModes : place.accessModes,
    ),
    ...(inline ? inlinePolicyErrors(spec, path) : standingErrors(spec, path)),
    ...sourceErrors(spec, path, dialect, inline ? "" : (place.name ?? "")),
    ...(inline ? inlineClassErrors(spec, path) : standingClassErrors(spec, path)),
  ];
}

function accessModeErrors(modes: readonly string[], field: string, allowed: readonly string[]): FieldError[] {
  const errors =
    modes.length > 0 ? modes.flatMap((mode) => supported(mode, field, allowed)) : [required(field)];
  const others = modes.some((mode) => mode !== readWriteOncePod && accessModes.includes(mode));
  if (allowed.includes(readWriteOncePod) && modes.includes(readWriteOncePod) && others)
    errors.push(forbiddenField(field, "may not use ReadWriteOncePod with other access modes"));
  return errors;
}

const notInline = "may not be specified in the context of inline volumes";

function inlineErrors(spec: PersistentVolumeSpec, path: string): FieldError[] {
  const errors = spec.claimRef ? [forbiddenField(`${path}.claimRef`, notInline)] : [];
  if (Object.keys(spec.capacity ?? {}).length > 0) errors.push(forbiddenField(`${path}.capacity`, notInline));
  if (!spec.csi) errors.push(required(`${path}.csi`, "has to be specified in the context of inline volumes"));
  return errors;
}

function inlinePolicyErrors(spec: PersistentVolumeSpec, path: string): FieldError[] {
  const { persistentVolumeReclaimPolicy: policy, nodeAffinity } = spec;
  const errors: FieldError[] = [];
  if (policy && policy !== "Retain")
    errors.push(
      forbiddenField(
        `${path}.persistentVolumeReclaimPolicy`,
        "may only be Retain in the context of inline volumes",
      ),
    );
  if (nodeAffinity) errors.push(forbiddenField(`${path}.nodeAffinity`, notInline));
  return errors;
}

function inlineClassErrors(
  { storageClassName, volumeMode }: PersistentVolumeSpec,
  path: string,
): FieldError[] {
  const errors = storageClassName ? [forbiddenField(`${path}.storageClassName`, notInline)] : [];
  if (volumeMode !== undefined && volumeMode !== "Filesystem")
    errors.push(
      forbiddenField(
        `${path}.volumeMode`,
        "may not specify volumeMode other than Filesystem in the context of inline volumes",
      ),
    );
  return errors;
}

function standingErrors(spec: PersistentVolumeSpec, path: string): FieldError[] {
  const { capacity = {}, persistentVolumeReclaimPolicy: policy, nodeAffinity } = spec;
  const sizes = Object.entries(capacity);
  const errors = sizes.length > 0 ? [] : [required(`${path}.capacity`)];
  if (!Object.hasOwn(capacity, "storage") || sizes.length > 1)
    errors.push(notSupported(`${path}.capacity`, capacity, ["storage"]));
  for (const [name, size] of sizes) {
    const value = parseQuantity(size).value;
    const at = `${path}.capacity[${name}]`;
    if (value < 0n)
      errors.push(invalidValue(at, new LiteralValue(size), "must be a valid resource quantity"));
    if (value <= 0n) errors.push(invalidValue(at, size, "must be greater than zero"));
  }
  if (policy)
    errors.push(
      ...supported(policy, `${path}.persistentVolumeReclaimPolicy`, ["Delete", "Recycle", "Retain"]),
    );
  if (nodeAffinity)
    errors.push(
      ...(nodeAffinity.required
        ? nodeSelectorErrors(nodeAffinity.required, `${path}.nodeAffinity.required`)
        : [required(`${path}.nodeAffinity.required`, "must specify required node constraints")]),
    );
  return errors;
}

function standingClassErrors(
  { storageClassName, volumeMode }: PersistentVolumeSpec,
  path: string,
): FieldError[] {
  const errors = storageClassName
    ? formatErrors(storageClassName, `${path}.storageClassName`, dns1123SubdomainProblems)
    : [];
  if (volumeMode !== undefined) errors.push(...supported(volumeMode, `${path}.volumeMode`, volumeModes));
  return errors;
}

/** In the order of validation: of several sources, the first one counts. */
// prettier-ignore
const sources = ["hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi"] as const satisfies readonly (keyof PersistentVolumeSource)[];

function sourceErrors(
  spec: PersistentVolumeSpec,
  path: string,
  dialect: Dialect,
  name: string,
): FieldError[] {
  const given = sources.filter((key) => spec[key] !== undefined);
  if (given.length === 0) return [required(path, "must specify a volume type")];
  // As in the reference, an additional flexVolume is not an error.
  const errors = given.flatMap((key, position) =>
    position === 0 || key === "flexVolume"
      ? oneSourceErrors(spec, key, path, { dialect, name })
      : [
          forbiddenField(
            `${path}.${key === "cephfs" ? "cephFS" : key}`,
            "may not specify more than 1 volume type",
          ),
        ],
  );
  const recycled =
    spec.hostPath && /^\/[./]*$/.test(spec.hostPath.path) && spec.persistentVolumeReclaimPolicy === "Recycle";
  if (recycled)
    errors.push(
      forbiddenField(
        `${path}.persistentVolumeReclaimPolicy`,
        "may not be 'recycle' for a hostPath mount of '/'",
      ),
    );
  return errors;
}

const needed = (source: object, keys: readonly string[], at: string): FieldError[] =>
  keys.filter((key) => !(source as Record<string, unknown>)[key]).map((key) => required(`${at}.${key}`));

const secretErrors = (
  secret: { readonly name?: string | undefined; readonly namespace?: string | undefined } | undefined,
  at: string,
): FieldError[] => (secret ? needed(secret, ["name", "namespace"], `${at}.secretRef`) : []);

const maxInitiatorLength = 64;

function iscsiVolumeErrors(iscsi: ISCSIPersistentVolumeSource, name: string, at: string): FieldError[] {
  const errors = iscsiErrors(iscsi, at, true);
  if (iscsi.initiatorName !== undefined && `${name}:${iscsi.targetPortal}`.length > maxInitiatorLength)
    errors.push(
      invalidValue(
        `${at}.targetportal`,
        iscsi.targetPortal,
        `Total length of <volume name>:<iscsi.targetPortal> must be under ${maxInitiatorLength} characters if iscsi.initiatorName is specified.`,
      ),
    );
  return iscsi.secretRef ? [...errors, ...needed(iscsi.secretRef, ["name"], `${at}.secretRef`)] : errors;
}

interface SourceContext {
  readonly dialect: Dialect;
  readonly name: string;
}

function oneSourceErrors(
  spec: PersistentVolumeSpec,
  key: (typeof sources)[number],
  path: string,
  { dialect, name }: SourceContext,
): FieldError[] {
  const at = `${path}.${key}`;
  switch (key) {
    case "hostPath": {
      const { path: directory, type } = spec.hostPath!;
      if (!directory) return [required(`${at}.path`)];
      return [
        ...noBacksteps(directory, `${at}.path`),
        ...(type === undefined ? [] : supported(type, `${at}.type`, hostPathTypes)),
      ];
    }
    case "local": {
      const errors = spec.local!.path
        ? noBacksteps(spec.local!.path, `${at}.path`)
        : [required(`${at}.path`)];
      return spec.nodeAffinity
        ? errors
        : [...errors, required(`${path}.nodeAffinity`, "Local volume requires node affinity")];
    }
    case "gcePersistentDisk":
      return gceErrors(spec.gcePersistentDisk!, `${path}.persistentDisk`);
    case "awsElasticBlockStore":
      return awsErrors(spec.awsElasticBlockStore!, at);
    case "glusterfs":
      return [
        ...needed(spec.glusterfs!, ["endpoints", "path"], at),
        ...namespaceErrors(spec.glusterfs!.endpointsNamespace, `${at}.endpointsNamespace`),
      ];
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
      return iscsiVolumeErrors(spec.iscsi!, name, at);
    case "cinder":
      return [...needed(spec.cinder!, ["volumeID"], at), ...secretErrors(spec.cinder!.secretRef, at)];
    case "fc":
      return fcErrors(spec.fc!, at);
    case "flexVolume":
      return flexErrors(spec.flexVolume as never, dialect, at);
    case "azureFile":
      return [
        ...needed(spec.azureFile!, ["secretName", "shareName"], at),
        ...(spec.azureFile!.secretNamespace === "" ? [required(`${at}.secretNamespace`)] : []),
      ];
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
    case "storageos": {
      const { volumeName, volumeNamespace, secretRef } = spec.storageos!;
      const errors = volumeName
        ? formatErrors(volumeName, `${at}.volumeName`, dns1123LabelProblems)
        : [required(`${at}.volumeName`)];
      if (volumeNamespace)
        errors.push(...formatErrors(volumeNamespace, `${at}.volumeNamespace`, dns1123LabelProblems));
      return [...errors, ...secretErrors(secretRef, at)];
    }
    case "csi":
      return csiErrors(spec.csi!, at);
  }
}

function namespaceErrors(namespace: string | undefined, field: string): FieldError[] {
  if (namespace === undefined) return [];
  return namespace
    ? formatErrors(namespace, field, dns1123LabelProblems)
    : [invalidValue(field, namespace, "if the endpointnamespace is set, it must be a valid namespace name")];
}

const maxDriverLength = 63;

export function driverNameErrors(name: string, field: string): FieldError[] {
  const errors = name ? [] : [required(field)];
  if (name.length > maxDriverLength) errors.push(tooLong(field, name, maxDriverLength));
  return [
    ...errors,
    ...dns1123SubdomainProblems(name.toLowerCase()).map((detail) => invalidValue(field, name, detail)),
  ];
}

function csiErrors(csi: CSIPersistentVolumeSource, at: string): FieldError[] {
  const errors = [...driverNameErrors(csi.driver, `${at}.driver`), ...needed(csi, ["volumeHandle"], at)];
  for (const key of [
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
  ] as const) {
    if (!csi[key]) continue;
    const { name, namespace } = csi[key];
    errors.push(
      ...(name
        ? formatErrors(name, `${at}.${key}.name`, dns1123SubdomainProblems)
        : [required(`${at}.${key}.name`)]),
    );
    errors.push(
      ...(namespace
        ? formatErrors(namespace, `${at}.${key}.namespace`, dns1123LabelProblems)
        : [required(`${at}.${key}.namespace`)]),
    );
  }
  return errors;
}

/** The fields of the spec that hold the volume source. */
export const sourceKeys = Object.keys(
  PersistentVolumeSource.fields,
) as readonly (keyof PersistentVolumeSource)[];
