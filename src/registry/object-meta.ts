// Metadata validation that applies to every kind.
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from "#api";
import {
  type FieldError,
  LiteralValue,
  forbiddenField,
  goTime,
  invalidValue,
  isLabelValue,
  isQualifiedName,
  maxFieldErrors,
  required,
  tooLong,
  unprintableIn,
} from "#base";
import type { Dialect } from "#dialect";
import { labelValueProblems, qualifiedNameProblems } from "#schema";
import { type NameRule, dnsLabel } from "./names.ts";

const maxAnnotationsBytes = 256 * 1024;

/** Validates the metadata of a new or changed object. */
export function validateMeta(
  meta: ObjectMeta,
  namespaced: boolean,
  nameRule: NameRule,
  path = "metadata",
): FieldError[] {
  const errors: FieldError[] = [];
  if (meta.generateName)
    for (const text of nameRule(meta.generateName, true))
      errors.push(invalidValue(`${path}.generateName`, meta.generateName, text));
  if (!meta.name) errors.push(required(`${path}.name`, "name or generateName is required"));
  else for (const text of nameRule(meta.name)) errors.push(invalidValue(`${path}.name`, meta.name, text));
  if (namespaced) {
    if (!meta.namespace) errors.push(required(`${path}.namespace`));
    else
      for (const text of dnsLabel(meta.namespace))
        errors.push(invalidValue(`${path}.namespace`, meta.namespace, text));
  } else if (meta.namespace) errors.push(forbiddenField(`${path}.namespace`, "not allowed on this type"));
  if ((meta.generation ?? 0) < 0)
    errors.push(invalidValue(`${path}.generation`, meta.generation, "must be greater than or equal to 0"));
  // On the path of every write, so absent fields are skipped.
  if (meta.labels) add(errors, validateLabels(meta.labels, `${path}.labels`));
  if (meta.annotations) add(errors, validateAnnotations(meta.annotations, `${path}.annotations`));
  if (meta.ownerReferences) add(errors, validateOwners(meta.ownerReferences, path));
  if (meta.finalizers) add(errors, validateFinalizers(meta.finalizers, `${path}.finalizers`));
  if (meta.managedFields) add(errors, validateManagers(meta.managedFields, `${path}.managedFields`));
  return errors;
}

/** Validates a change of metadata against the old metadata. */
export function validateMetaUpdate(meta: ObjectMeta, old: ObjectMeta, path = "metadata"): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp) {
    const before = new Set(old.finalizers ?? []);
    const added = (meta.finalizers ?? []).filter((item) => !before.has(item));
    if (added.length > 0)
      errors.push(
        forbiddenField(
          `${path}.finalizers`,
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((item) => JSON.stringify(item)).join(", ")}}`,
        ),
      );
  }
  if (!meta.resourceVersion)
    errors.push(invalidValue(`${path}.resourceVersion`, "", "must be specified for an update"));
  if ((meta.generation ?? 0) < (old.generation ?? 0))
    errors.push(invalidValue(`${path}.generation`, meta.generation, "must not be decremented"));
  for (const key of [
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
  ] as const) {
    if ((meta[key] ?? null) !== (old[key] ?? null))
      errors.push(invalidValue(`${path}.${key}`, shownMeta(key, meta[key]), "field is immutable"));
  }
  if (meta.labels) add(errors, validateLabels(meta.labels, `${path}.labels`));
  if (meta.annotations) add(errors, validateAnnotations(meta.annotations, `${path}.annotations`));
  if (meta.ownerReferences) add(errors, validateOwners(meta.ownerReferences, path));
  if (meta.managedFields) add(errors, validateManagers(meta.managedFields, `${path}.managedFields`));
  return errors;
}

/** Formats times as Go prints them. */
const shownMeta = (key: keyof ObjectMeta, value: unknown): unknown =>
  key.endsWith("Timestamp") && typeof value === "string"
    ? new LiteralValue(goTime(new Date(value)))
    : (value ?? null);

/** Appends errors one by one: spreading them as arguments could exceed the argument limit. */
export function add(errors: FieldError[], found: readonly FieldError[]): void {
  for (const error of found) errors.push(error);
}

/** Returns one error for each way in which a qualified name is invalid. */
const nameErrors = (name: string, path: string, shown = name): FieldError[] =>
  qualifiedNameProblems(name).map((text) => invalidValue(path, shown, text));

export function validateLabels(labels: Record<string, string> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key in labels) {
    if (errors.length > maxFieldErrors) break;
    const value = labels[key]!;
    if (!isQualifiedName(key)) errors.push(...nameErrors(key, path));
    if (!isLabelValue(value))
      for (const text of labelValueProblems(value)) errors.push(invalidValue(path, value, text));
  }
  return errors;
}

export function validateAnnotations(
  annotations: Record<string, string> | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const key in annotations) {
    const value = annotations[key]!;
    const name = key.toLowerCase();
    if (errors.length < maxFieldErrors && !isQualifiedName(name)) errors.push(...nameErrors(name, path, key));
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > maxAnnotationsBytes)
    errors.push({
      type: "FieldValueTooLong",
      field: path,
      value: "",
      detail: `must have at most ${maxAnnotationsBytes} bytes`,
    });
  return errors;
}

function validateOwners(owners: readonly OwnerReference[] | undefined, metaPath: string): FieldError[] {
  const path = `${metaPath}.ownerReferences`;
  const errors: FieldError[] = [];
  let controller: string | undefined;
  for (const owner of owners ?? []) {
    if (!hasVersion(owner.apiVersion))
      errors.push(invalidValue(`${path}.apiVersion`, owner.apiVersion, "version must not be empty"));
    if (!owner.kind) errors.push(invalidValue(`${path}.kind`, owner.kind, "kind must not be empty"));
    if (!owner.name) errors.push(invalidValue(`${path}.name`, owner.name, "name must not be empty"));
    if (!owner.uid) errors.push(invalidValue(`${path}.uid`, owner.uid, "uid must not be empty"));
    if (owner.apiVersion === "v1" && owner.kind === "Event")
      errors.push(invalidValue(path, owner, "v1, Kind=Event is disallowed from being an owner"));
    if (!owner.controller) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller !== undefined)
      errors.push(
        invalidValue(
          path,
          owners,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`,
        ),
      );
    else controller = name;
  }
  return errors;
}

/** Reports whether an API version, `version` or `group/version`, has a version; more parts count as none. */
function hasVersion(apiVersion: string): boolean {
  const parts = apiVersion.split("/");
  return parts.length <= 2 && parts.at(-1) !== "";
}

/** Drops identical owner references and returns the UIDs of the dropped ones. */
export function dropRepeatedOwners(meta: ObjectMeta): string[] {
  const owners = meta.ownerReferences ?? [];
  const repeated: string[] = [];
  if (owners.length < 2) return repeated;
  const seen = new Set<string>();
  const kept = owners.filter((owner) => {
    const before = seen.size;
    if (seen.add(ownerText(owner)).size > before) return true;
    repeated.push(owner.uid);
    return false;
  });
  if (repeated.length > 0) meta.ownerReferences = kept;
  return repeated;
}

const ownerText = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string =>
  JSON.stringify([apiVersion, kind, name, uid, controller ?? null, blockOwnerDeletion ?? null]);

export const orphanFinalizer = "orphan";
export const foregroundFinalizer = "foregroundDeletion";

export function validateFinalizers(finalizers: readonly string[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of finalizers ?? [])
    if (errors.length < maxFieldErrors && !isQualifiedName(name)) errors.push(...nameErrors(name, path));
  if (finalizers?.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)) {
    errors.push(
      invalidValue(
        path,
        finalizers,
        `finalizer ${orphanFinalizer} and ${foregroundFinalizer} cannot be both set`,
      ),
    );
  }
  return errors;
}

/** Validates that finalizers of built-in kinds are qualified, or one of the product's standard names. */
export function validateFinalizersQualified(
  finalizers: readonly string[] | undefined,
  dialect: Dialect,
  path = "metadata.finalizers",
): FieldError[] {
  const known = [orphanFinalizer, foregroundFinalizer, dialect.data.namespaceFinalizer];
  return (finalizers ?? []).flatMap((name, position) =>
    name.includes("/") || known.includes(name)
      ? []
      : [
          invalidValue(
            `${path}[${position}]`,
            name,
            "name is neither a standard finalizer name nor is it fully qualified",
          ),
        ],
  );
}

const noErrors: FieldError[] = [];
export const maxManagerLength = 128;
const maxSubresourceLength = 256;

/** Validates the name of a field manager; each unprintable character yields a separate error. */
export function managerErrors(manager: string, field: string): FieldError[] {
  const unprintable = unprintableIn(manager);
  const isTooLong = Buffer.byteLength(manager) > maxManagerLength;
  if (!isTooLong && unprintable.length === 0) return noErrors;
  const errors = isTooLong ? [tooLong(field, manager, maxManagerLength)] : [];
  for (const { 0: character, index } of unprintable) {
    const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    const at = Buffer.byteLength(manager.slice(0, index));
    errors.push(invalidValue(field, manager, `invalid character U+${code} (at position ${at})`));
  }
  return errors;
}

function validateManagers(entries: readonly ManagedFieldsEntry[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  entries?.forEach((entry, position) => {
    const at = `${path}[${position}]`;
    if (entry.operation !== "Apply" && entry.operation !== "Update")
      errors.push(invalidValue(`${at}.operation`, entry.operation ?? "", "must be `Apply` or `Update`"));
    if (entry.fieldsType && entry.fieldsType !== "FieldsV1")
      errors.push(invalidValue(`${at}.fieldsType`, entry.fieldsType, "must be `FieldsV1`"));
    errors.push(...managerErrors(entry.manager ?? "", `${at}.manager`));
    if (Buffer.byteLength(entry.subresource ?? "") > maxSubresourceLength)
      errors.push(tooLong(`${at}.subresource`, entry.subresource ?? "", maxSubresourceLength));
  });
  return errors;
}
