// Validation of volumes of specific storage systems.
import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFileVolumeSource,
  CephFSVolumeSource,
  CinderVolumeSource,
  CSIVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  GitRepoVolumeSource,
  GlusterfsVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  QuobyteVolumeSource,
  RBDVolumeSource,
  ScaleIOVolumeSource,
  StorageOSVolumeSource,
} from "#api";
import { type FieldError, invalidValue, notSupported, required, tooLong } from "#base";
import type { Dialect } from "#dialect";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import { formatErrors } from "../rules/format.ts";
import { descendingPath } from "./paths.ts";

/** Validates that every listed field is set. */
const needed = (source: object, keys: readonly string[], path: string): FieldError[] =>
  keys.filter((key) => !(source as Record<string, unknown>)[key]).map((key) => required(`${path}.${key}`));

const byteErrors = (value: number | undefined, field: string): FieldError[] =>
  value !== undefined && (value < 0 || value > 255)
    ? [invalidValue(field, value, "must be between 0 and 255, inclusive")]
    : [];

const secretNameErrors = (
  secret: { readonly name?: string | undefined } | undefined,
  path: string,
): FieldError[] => (secret && !secret.name ? [required(`${path}.secretRef.name`)] : []);

export const gitRepoErrors = (source: GitRepoVolumeSource, path: string): FieldError[] => [
  ...needed(source, ["repository"], path),
  ...descendingPath(source.directory ?? "", `${path}.directory`),
];

export const gceErrors = (source: GCEPersistentDiskVolumeSource, path: string): FieldError[] => [
  ...needed(source, ["pdName"], path),
  ...byteErrors(source.partition, `${path}.partition`),
];
export const awsErrors = (source: AWSElasticBlockStoreVolumeSource, path: string): FieldError[] => [
  ...needed(source, ["volumeID"], path),
  ...byteErrors(source.partition, `${path}.partition`),
];

export const nfsErrors = (source: NFSVolumeSource, path: string): FieldError[] => [
  ...needed(source, ["server", "path"], path),
  ...(source.path.startsWith("/")
    ? []
    : [invalidValue(`${path}.path`, source.path, "must be an absolute path")]),
];

const iscsiNames: readonly (readonly [prefix: string, isValid: (name: string) => boolean])[] = [
  ["iqn", isQualifiedName],
  ["eui", (name) => /^eui.[A-Za-z0-9]{16}$/.test(name)],
  ["naa", (name) => /^naa.[A-Za-z0-9]{32}$/.test(name)],
];

/**
 * Reports whether the name ends as `iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+$` demands. As one pattern,
 * which may begin anywhere in the name, this takes quadratic time.
 */
function isQualifiedName(name: string): boolean {
  const end = name.split(/[,;*&$|\s]/).at(-1)!;
  const parts = end.replace(/:$/, "").split(":");
  return parts.slice(0, -1).some((part) => authorityForm.test(part.split(/[^A-Za-z0-9.-]/).at(-1)!));
}

const authorityForm = /iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]/;

const malformedName = "must be valid format";

function iscsiNameErrors(name: string, field: string, prefixMissing: string): FieldError[] {
  const rule = iscsiNames.find(([prefix]) => name.startsWith(prefix));
  if (!rule) return [invalidValue(field, name, prefixMissing)];
  return rule[1](name) ? [] : [invalidValue(field, name, malformedName)];
}

/** Validates an iSCSI source. For a persistent volume, errors omit the required prefix of the name. */
export function iscsiErrors(source: ISCSIVolumeSource, path: string, persistent = false): FieldError[] {
  const prefixMissing = persistent ? malformedName : `${malformedName} starting with iqn, eui, or naa`;
  const { iqn, lun, secretRef, initiatorName } = source;
  const errors = [
    ...needed(source, ["targetPortal"], path),
    ...(iqn ? iscsiNameErrors(iqn, `${path}.iqn`, prefixMissing) : [required(`${path}.iqn`)]),
    ...byteErrors(lun, `${path}.lun`),
  ];
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !secretRef)
    errors.push(required(`${path}.secretRef`));
  return initiatorName === undefined
    ? errors
    : [...errors, ...iscsiNameErrors(initiatorName, `${path}.initiatorname`, prefixMissing)];
}

export const glusterfsErrors = (source: GlusterfsVolumeSource, path: string): FieldError[] =>
  needed(source, ["endpoints", "path"], path);

export function flockerErrors({ datasetName, datasetUUID }: FlockerVolumeSource, path: string): FieldError[] {
  const errors =
    datasetName || datasetUUID ? [] : [required(path, "one of datasetName and datasetUUID is required")];
  if (datasetName && datasetUUID)
    errors.push(
      invalidValue(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"),
    );
  if (datasetName?.includes("/"))
    errors.push(invalidValue(`${path}.datasetName`, datasetName, "must not contain '/'"));
  return errors;
}

export const rbdErrors = ({ monitors, image }: RBDVolumeSource, path: string): FieldError[] => [
  ...monitorErrors(monitors, path),
  ...(image ? [] : [required(`${path}.image`)]),
];
export const cephfsErrors = ({ monitors }: CephFSVolumeSource, path: string): FieldError[] =>
  monitorErrors(monitors, path);
const monitorErrors = (monitors: readonly string[] | null, path: string): FieldError[] =>
  monitors?.length ? [] : [required(`${path}.monitors`)];

export const cinderErrors = (source: CinderVolumeSource, path: string): FieldError[] => [
  ...needed(source, ["volumeID"], path),
  ...secretNameErrors(source.secretRef, path),
];

export function quobyteErrors({ registry, volume, tenant }: QuobyteVolumeSource, path: string): FieldError[] {
  const pairs = "must be a host:port pair or multiple pairs separated by commas";
  const errors = volume ? [] : [required(`${path}.volume`)];
  if (!registry) return [required(`${path}.registry`, pairs), ...errors];
  if ((tenant ?? "").length > 64)
    return [
      required(`${path}.tenant`, "must be a UUID and may not exceed a length of 64 characters"),
      ...errors,
    ];
  const wrong = registry.split(",").filter((pair) => !/^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair));
  return [...wrong.map(() => invalidValue(`${path}.registry`, registry, pairs)), ...errors];
}

export function fcErrors({ targetWWNs, wwids, lun }: FCVolumeSource, path: string): FieldError[] {
  const errors =
    targetWWNs?.length || wwids?.length
      ? []
      : [required(`${path}.targetWWNs`, "must specify either targetWWNs or wwids, but not both")];
  if (targetWWNs?.length && wwids?.length)
    errors.push(
      invalidValue(
        `${path}.targetWWNs`,
        targetWWNs,
        "targetWWNs and wwids can not be specified simultaneously",
      ),
    );
  if (!targetWWNs?.length) return errors;
  return [
    ...errors,
    ...(lun === undefined
      ? [required(`${path}.lun`, "lun is required if targetWWNs is specified")]
      : byteErrors(lun, `${path}.lun`)),
  ];
}

export function flexErrors(source: FlexVolumeSource, { data, wire }: Dialect, path: string): FieldError[] {
  const reserved = [data.labelDomain, wire.groupSuffix].map((domain) => `.${domain}`);
  const taken = Object.keys(source.options ?? {}).filter((key) =>
    reserved.some((domain) => `.${key.split("/", 1)[0]!.toLowerCase()}`.endsWith(domain)),
  );
  return [
    ...needed(source, ["driver"], path),
    ...taken.map((key) => invalidValue(`${path}.options[${key}]`, key, "these namespaces are reserved")),
  ];
}

export const azureFileErrors = (source: AzureFileVolumeSource, path: string): FieldError[] =>
  needed(source, ["secretName", "shareName"], path);

const cachingModes = ["None", "ReadOnly", "ReadWrite"];
const diskKinds = ["Dedicated", "Managed", "Shared"];
const managedDiskForm =
  "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const blobDiskForm = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

export function azureDiskErrors(source: AzureDiskVolumeSource, path: string): FieldError[] {
  const { cachingMode, kind, diskURI } = source;
  const errors = needed(source, ["diskName", "diskURI"], path);
  if (cachingMode !== undefined && !cachingModes.includes(cachingMode))
    errors.push(notSupported(`${path}.cachingMode`, cachingMode, cachingModes));
  if (kind === undefined) return errors;
  if (!diskKinds.includes(kind)) errors.push(notSupported(`${path}.kind`, kind, diskKinds));
  const form = kind === "Managed" ? managedDiskForm : blobDiskForm;
  return diskURI.startsWith(form.slice(0, form.indexOf("{")))
    ? errors
    : [...errors, notSupported(`${path}.diskURI`, diskURI, [form])];
}

export function storageosErrors(
  { volumeName, volumeNamespace, secretRef }: StorageOSVolumeSource,
  path: string,
): FieldError[] {
  const errors = volumeName
    ? formatErrors(volumeName, `${path}.volumeName`, dns1123LabelProblems)
    : [required(`${path}.volumeName`)];
  if (volumeNamespace)
    errors.push(...formatErrors(volumeNamespace, `${path}.volumeNamespace`, dns1123LabelProblems));
  return [...errors, ...secretNameErrors(secretRef, path)];
}

export const scaleIoErrors = (source: ScaleIOVolumeSource, path: string): FieldError[] =>
  needed(source, ["gateway", "system", "volumeName"], path);

const maxDriverLength = 63;

export function csiErrors({ driver, nodePublishSecretRef }: CSIVolumeSource, path: string): FieldError[] {
  const errors = driver ? [] : [required(`${path}.driver`)];
  if (driver.length > maxDriverLength) errors.push(tooLong(`${path}.driver`, driver, maxDriverLength));
  errors.push(
    ...dns1123SubdomainProblems(driver.toLowerCase()).map((problem) =>
      invalidValue(`${path}.driver`, driver, problem),
    ),
  );
  if (!nodePublishSecretRef) return errors;
  const { name } = nodePublishSecretRef;
  return [
    ...errors,
    ...(name
      ? formatErrors(name, `${path}.name`, dns1123SubdomainProblems)
      : [required(`${path}.nodePublishSecretRef.name`)]),
  ];
}
