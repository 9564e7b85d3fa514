// Validation of claim specs and of templates for ephemeral claims.
import type {
  ObjectMeta,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimTemplate,
  TypedLocalObjectReference,
  TypedObjectReference,
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
import type { Dialect } from "#dialect";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import { validateAnnotations, validateLabels } from "../../object-meta.ts";
import { accessModes, readWriteOncePod } from "../rules/access-modes.ts";
import { formatErrors } from "../rules/format.ts";
import { labelSelectorErrors } from "../rules/label-selector.ts";
import { amountErrors } from "../rules/resource-name.ts";
import type { PodRules } from "./rules.ts";

const volumeModes = ["Block", "Filesystem"];

export function claimTemplateErrors(
  { metadata, spec }: PersistentVolumeClaimTemplate,
  { dialect, claimModes }: Pick<PodRules, "dialect" | "claimModes">,
  path: string,
): FieldError[] {
  return [
    ...templateMetaErrors(metadata, `${path}.metadata`),
    ...claimSpecErrors(spec, dialect, `${path}.spec`, claimModes),
  ];
}

/** Validates that the metadata of a claim template has only labels and annotations. */
export function templateMetaErrors(metadata: ObjectMeta, path: string): FieldError[] {
  const errors = [
    ...validateAnnotations(metadata.annotations, `${path}.annotations`),
    ...validateLabels(metadata.labels, `${path}.labels`),
  ];
  for (const [key, value] of Object.entries(metadata)) {
    const set = Array.isArray(value)
      ? value.length > 0
      : value !== undefined && value !== null && value !== "";
    if (set && key !== "annotations" && key !== "labels")
      errors.push(forbiddenField(`${path}.${key === "uid" ? "uID" : key}`, "cannot be set"));
  }
  return errors;
}

export function claimSpecErrors(
  spec: PersistentVolumeClaimSpec,
  dialect: Dialect,
  path: string,
  allowed: readonly string[],
): FieldError[] {
  const {
    accessModes: modes = [],
    selector,
    storageClassName,
    volumeMode,
    dataSource,
    dataSourceRef,
    resources,
  } = spec;
  const errors = modes.length ? [] : [required(`${path}.accessModes`, "at least 1 access mode is required")];
  errors.push(...labelSelectorErrors(selector, `${path}.selector`));
  for (const mode of modes)
    if (!allowed.includes(mode)) errors.push(notSupported(`${path}.accessModes`, mode, allowed));
  if (
    allowed.includes(readWriteOncePod) &&
    modes.includes(readWriteOncePod) &&
    modes.some((mode) => mode !== readWriteOncePod && accessModes.includes(mode))
  )
    errors.push(
      forbiddenField(`${path}.accessModes`, "may not use ReadWriteOncePod with other access modes"),
    );
  errors.push(...storageErrors(resources.requests?.["storage"], dialect, `${path}.resources[storage]`));
  if (storageClassName)
    errors.push(...formatErrors(storageClassName, `${path}.storageClassName`, dns1123SubdomainProblems));
  if (volumeMode !== undefined && !volumeModes.includes(volumeMode))
    errors.push(notSupported(`${path}.volumeMode`, volumeMode, volumeModes));
  if (dataSource) errors.push(...referenceErrors(dataSource, `${path}.dataSource`));
  if (dataSourceRef) errors.push(...referenceErrors(dataSourceRef, `${path}.dataSourceRef`));
  if (dataSourceRef?.namespace) {
    errors.push(
      ...formatErrors(dataSourceRef.namespace, `${path}.dataSourceRef.namespace`, dns1123LabelProblems),
    );
    if (dataSource)
      errors.push(
        invalidValue(
          path,
          `${path}.dataSource`,
          "may not be specified when dataSourceRef.namespace is specified",
        ),
      );
  } else if (dataSource && dataSourceRef && !sameReference(dataSource, dataSourceRef))
    errors.push(invalidValue(path, `${path}.dataSource`, "must match dataSourceRef"));
  return errors;
}

function storageErrors(text: string | undefined, dialect: Dialect, field: string): FieldError[] {
  if (text === undefined) return [required(field)];
  if (compareQuantity(parseQuantity(text), quantityOf(0)) <= 0)
    return [invalidValue(field, text, "must be greater than zero")];
  return amountErrors("storage", text, field, dialect);
}

function referenceErrors(
  { name, kind, apiGroup }: TypedLocalObjectReference | TypedObjectReference,
  at: string,
): FieldError[] {
  const errors = name ? [] : [required(`${at}.name`)];
  if (!kind) errors.push(required(`${at}.kind`));
  if (!apiGroup && kind !== "PersistentVolumeClaim")
    errors.push(
      invalidValue(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"),
    );
  return errors;
}

const sameReference = (a: TypedLocalObjectReference, b: TypedObjectReference): boolean =>
  a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name;
