// Validation of built-in volume sources, and the list of all sources in the order of validation.
import type {
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  EphemeralVolumeSource,
  HostPathVolumeSource,
  KeyToPath,
  ProjectedVolumeSource,
  SecretVolumeSource,
  Volume,
  VolumeProjection,
  VolumeSource,
} from "#api";
import {
  type FieldError,
  compareQuantity,
  forbiddenField,
  invalidValue,
  notSupported,
  parseQuantity,
  quantityOf,
  required,
} from "#base";
import { claimTemplateErrors } from "./claim-template.ts";
import { fieldRefErrors, resourceFieldErrors, volumeFields } from "./env.ts";
import { modeErrors, noBacksteps, ownPath } from "./paths.ts";
import type { PodRules } from "./rules.ts";
import * as vendor from "./volume-vendors.ts";

export type SourceKey = keyof VolumeSource;
type Check<K extends SourceKey> = (
  source: NonNullable<VolumeSource[K]>,
  path: string,
  rules: PodRules,
) => FieldError[];

export const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;

// In the order of validation: the first source is validated, any other is forbidden.
const checks: { readonly [K in SourceKey]-?: Check<K> } = {
  emptyDir: ({ sizeLimit }, path) =>
    sizeLimit !== undefined && compareQuantity(parseQuantity(sizeLimit), quantityOf(0)) < 0
      ? [forbiddenField(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity")]
      : [],
  hostPath: hostPathErrors,
  gitRepo: vendor.gitRepoErrors,
  gcePersistentDisk: vendor.gceErrors,
  awsElasticBlockStore: vendor.awsErrors,
  secret: secretErrors,
  nfs: vendor.nfsErrors,
  iscsi: (source, path) => vendor.iscsiErrors(source, path),
  glusterfs: vendor.glusterfsErrors,
  flocker: vendor.flockerErrors,
  persistentVolumeClaim: ({ claimName }, path) => (claimName ? [] : [required(`${path}.claimName`)]),
  rbd: vendor.rbdErrors,
  cinder: vendor.cinderErrors,
  cephfs: vendor.cephfsErrors,
  quobyte: vendor.quobyteErrors,
  downwardAPI: ({ items, defaultMode }, path) => [
    ...modeErrors(defaultMode, `${path}.defaultMode`),
    ...(items ?? []).flatMap((file) => downwardFileErrors(file, path)),
  ],
  fc: vendor.fcErrors,
  flexVolume: (source, path, { dialect }) => vendor.flexErrors(source, dialect, path),
  configMap: configMapErrors,
  azureFile: vendor.azureFileErrors,
  vsphereVolume: ({ volumePath }, path) => (volumePath ? [] : [required(`${path}.volumePath`)]),
  photonPersistentDisk: ({ pdID }, path) => (pdID ? [] : [required(`${path}.pdID`)]),
  portworxVolume: ({ volumeID }, path) => (volumeID ? [] : [required(`${path}.volumeID`)]),
  azureDisk: vendor.azureDiskErrors,
  storageos: vendor.storageosErrors,
  projected: projectedErrors,
  scaleIO: vendor.scaleIoErrors,
  csi: vendor.csiErrors,
  ephemeral: ephemeralErrors,
};
export const sourceKeys = Object.keys(checks) as readonly SourceKey[];

export function sourceErrors(volume: Volume, key: SourceKey, rules: PodRules, at: string): FieldError[] {
  const check = checks[key] as (source: never, path: string, rules: PodRules) => FieldError[];
  return check(volume[key] as never, `${at}.${key === "gcePersistentDisk" ? "persistentDisk" : key}`, rules);
}

function hostPathErrors({ path, type }: HostPathVolumeSource, at: string): FieldError[] {
  if (!path) return [required(`${at}.path`)];
  const errors = noBacksteps(path, `${at}.path`);
  return type === undefined || hostPathTypes.includes(type)
    ? errors
    : [...errors, notSupported(`${at}.type`, type, hostPathTypes)];
}

const itemErrors = (items: readonly KeyToPath[] | undefined, path: string): FieldError[] =>
  (items ?? []).flatMap((item, position) => {
    const at = `${path}[${position}]`;
    const errors = item.key ? [] : [required(`${at}.key`)];
    if (!item.path) errors.push(required(`${at}.path`));
    return [...errors, ...ownPath(item.path, `${at}.path`), ...modeErrors(item.mode, `${at}.mode`)];
  });

function secretErrors({ secretName, items, defaultMode }: SecretVolumeSource, path: string): FieldError[] {
  return [
    ...(secretName ? [] : [required(`${path}.secretName`)]),
    ...modeErrors(defaultMode, `${path}.defaultMode`),
    ...itemErrors(items, `${path}.items`),
  ];
}

function configMapErrors({ name, items, defaultMode }: ConfigMapVolumeSource, path: string): FieldError[] {
  return [
    ...(name ? [] : [required(`${path}.name`)]),
    ...modeErrors(defaultMode, `${path}.defaultMode`),
    ...itemErrors(items, `${path}.items`),
  ];
}

function downwardFileErrors(
  { path, fieldRef, resourceFieldRef, mode }: DownwardAPIVolumeFile,
  at: string,
): FieldError[] {
  const errors = path ? [] : [required(`${at}.path`)];
  errors.push(...ownPath(path, `${at}.path`));
  if (fieldRef) errors.push(...fieldRefErrors(fieldRef, volumeFields, `${at}.fieldRef`));
  else if (resourceFieldRef)
    errors.push(...resourceFieldErrors(resourceFieldRef, true, `${at}.resourceFieldRef`));
  else errors.push(required(at, "one of fieldRef and resourceFieldRef is required"));
  if (fieldRef && resourceFieldRef)
    errors.push(
      invalidValue(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"),
    );
  return [...errors, ...modeErrors(mode, `${at}.mode`)];
}

function projectedErrors({ sources, defaultMode }: ProjectedVolumeSource, path: string): FieldError[] {
  const taken = new Set<string>();
  const errors = modeErrors(defaultMode, `${path}.defaultMode`);
  sources?.forEach((source, position) =>
    errors.push(...projectionErrors(source, taken, path, `${path}.sources[${position}]`)),
  );
  return errors;
}

function projectionErrors(
  { secret, configMap, downwardAPI, serviceAccountToken: token }: VolumeProjection,
  taken: Set<string>,
  path: string,
  at: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const claim = (file: string, what: string): void => {
    if (file && taken.has(file)) errors.push(invalidValue(path, what, "conflicting duplicate paths"));
    if (file) taken.add(file);
  };
  for (const [key, source] of Object.entries({ secret, configMap })) {
    if (!source) continue;
    if (!source.name) errors.push(required(`${at}.${key}.name`));
    errors.push(...itemErrors(source.items, `${at}.${key}.items`));
    for (const item of source.items ?? []) claim(item.path, source.name ?? "");
  }
  for (const file of downwardAPI?.items ?? []) {
    errors.push(...downwardFileErrors(file, `${at}.downwardAPI`));
    claim(file.path, file.path);
  }
  if (token) {
    const seconds = token.expirationSeconds ?? 0;
    if (seconds < minTokenSeconds)
      errors.push(
        invalidValue(
          `${at}.serviceAccountToken.expirationSeconds`,
          seconds,
          "may not specify a duration less than 10 minutes",
        ),
      );
    if (seconds > maxTokenSeconds)
      errors.push(
        invalidValue(
          `${at}.serviceAccountToken.expirationSeconds`,
          seconds,
          "may not specify a duration larger than 2^32 seconds",
        ),
      );
    if (!token.path) errors.push(required(`${path}.path`));
  }
  if ([secret, configMap, downwardAPI, token].filter((each) => each).length > 1)
    errors.push(forbiddenField(at, "may not specify more than 1 volume type"));
  return errors;
}

function ephemeralErrors(
  { volumeClaimTemplate: template }: EphemeralVolumeSource,
  path: string,
  rules: PodRules,
): FieldError[] {
  return template
    ? claimTemplateErrors(template, rules, `${path}.volumeClaimTemplate`)
    : [required(`${path}.volumeClaimTemplate`)];
}
