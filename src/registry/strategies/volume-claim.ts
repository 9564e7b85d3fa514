// Persistent volume claims. Of their spec only the requested size may grow, and only while they are bound.
import { PersistentVolumeClaim, type PersistentVolumeClaimSpec, type TypedLocalObjectReference } from "#api";
import {
  type FieldError,
  LiteralValue,
  compareQuantity,
  forbiddenField,
  invalidValue,
  notSupported,
  parseQuantity,
  required,
} from "#base";
import { type RequestContext, strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { accessModesText, classText, phaseText } from "./cells/volume.ts";
import { statusPart } from "./parts.ts";
import { claimSpecErrors } from "./pod-validation/claim-template.ts";
import { claimWarnings } from "./pod-warnings.ts";
import { allowedModes } from "./rules/access-modes.ts";
import { supported } from "./rules/one-of.ts";
import { roundUpClaim } from "./rules/round-up.ts";
import { same, unchanged } from "./rules/unchanged.ts";

/**
 * Drops data source references if their feature is off, or those into other namespaces if that feature is
 * off.
 */
function dropSources(
  spec: PersistentVolumeClaimSpec,
  { dialect: { wire }, settings }: Pick<RequestContext, "dialect" | "settings">,
  old?: PersistentVolumeClaimSpec,
): void {
  const isForeign = Boolean(spec.dataSourceRef?.namespace) && !settings.foreignSources;
  if ((settings.sourceReferences === false || isForeign) && !old?.dataSourceRef) delete spec.dataSourceRef;
  delete spec.resources.claims;
  if (old?.dataSource || old?.dataSourceRef || spec.dataSourceRef || !spec.dataSource) return;
  const { kind, apiGroup } = spec.dataSource;
  const known =
    (kind === "PersistentVolumeClaim" && !apiGroup) ||
    (kind === "VolumeSnapshot" && apiGroup === `snapshot.storage.${wire.groupSuffix}`);
  if (!known) delete spec.dataSource;
}

/** Aligns dataSource and dataSourceRef, of which clients may send either. */
function alignSources(spec: PersistentVolumeClaimSpec): void {
  const { dataSource: source, dataSourceRef: reference } = spec;
  const { namespace, ...local } = reference ?? {};
  if (source && !reference) spec.dataSourceRef = { ...source };
  else if (reference && !source && !namespace) spec.dataSource = local as TypedLocalObjectReference;
}

function changeErrors(
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  { dialect: { names }, settings }: Pick<RequestContext, "dialect" | "settings">,
): FieldError[] {
  const [now, before] = [structuredClone(claim.spec), structuredClone(old.spec)];
  const errors: FieldError[] = [];
  if (!before.volumeName && now.volumeName) before.volumeName = now.volumeName;
  const key = names.annotations.betaStorageClass;
  const [annotation, annotationBefore] = [claim.metadata.annotations?.[key], old.metadata.annotations?.[key]];
  // The class may move from the annotation to the field, and may be set where neither was.
  const moved =
    annotationBefore !== undefined &&
    before.storageClassName === undefined &&
    now.storageClassName === annotationBefore &&
    (annotation === undefined || annotation === annotationBefore);
  if (moved) delete now.storageClassName;
  else {
    if ((annotation ?? "") !== (annotationBefore ?? ""))
      errors.push(invalidValue(`metadata.annotations.${key}`, annotation ?? "", "field is immutable"));
    const filledIn =
      settings.retroactiveClass !== false &&
      now.storageClassName !== undefined &&
      before.storageClassName === undefined &&
      (annotationBefore === undefined || now.storageClassName === annotationBefore);
    if (filledIn) delete now.storageClassName;
  }
  const [size, oldSize] = [now.resources.requests?.["storage"], before.resources.requests?.["storage"]];
  if (claim.status.phase === "Bound" && now.resources.requests && oldSize !== undefined)
    now.resources.requests["storage"] = oldSize;
  if (!same(now, before))
    errors.push(
      forbiddenField("spec", "spec is immutable after creation except resources.requests for bound claims"),
    );
  const compared = (other: string | undefined): number =>
    compareQuantity(parseQuantity(size ?? "0"), parseQuantity(other ?? "0"));
  const tooSmall = (why: string): void =>
    void errors.push(forbiddenField("spec.resources.requests.storage", why));
  if (compared(oldSize) < 0) {
    if (!settings.expansionRecovery) tooSmall("field can not be less than previous value");
    else if (compared(old.status.capacity?.["storage"]) <= 0)
      tooSmall("field can not be less than status.capacity");
  }
  return [...errors, ...unchanged(claim.spec.volumeMode, old.spec.volumeMode, "volumeMode")];
}

/** Drops the state of an expansion that can be reduced, if that feature is off. */
function withoutRecovery({ allocatedResources, resizeStatus, ...status }: Status, old: Status): Status {
  return {
    ...status,
    ...(old.allocatedResources && { allocatedResources }),
    ...(old.resizeStatus !== undefined && { resizeStatus }),
  };
}
type Status = PersistentVolumeClaim["status"];

const sizeErrors = (size: string, path: string): FieldError[] =>
  parseQuantity(size).value < 0n
    ? [invalidValue(path, new LiteralValue(size), "must be a valid resource quantity")]
    : [];

const resizeStates = [
  "",
  "ControllerExpansionFailed",
  "ControllerExpansionInProgress",
  "NodeExpansionFailed",
  "NodeExpansionInProgress",
  "NodeExpansionPending",
];

function recoveryErrors({ resizeStatus, allocatedResources = {} }: Status): FieldError[] {
  const errors =
    resizeStatus === undefined ? [] : supported(resizeStatus, "status.resizeStatus", resizeStates);
  const at = "status.allocatedResources";
  for (const [name, size] of Object.entries(allocatedResources))
    errors.push(
      ...(name === "storage"
        ? sizeErrors(size, `${at}[${name}]`)
        : [notSupported(at, new LiteralValue(name), ["storage"])]),
    );
  return errors;
}

export const persistentVolumeClaim = strategy<PersistentVolumeClaim>({
  resource: "persistentvolumeclaims",
  singular: "persistentvolumeclaim",
  shortNames: ["pvc"],
  scope: "Namespaced",
  hub: PersistentVolumeClaim,
  metaChecks: { asNew: 2 },
  status: "cleared",
  returnsDeleted: true,
  defaults: roundUpClaim,
  restore: ({ spec, status }) => {
    status.phase ||= "Pending";
    alignSources(spec);
  },
  prepareForCreate: (obj, ctx) => {
    obj.status = {};
    dropSources(obj.spec, ctx);
    if (ctx.settings.sourceReferences !== false) alignSources(obj.spec);
  },
  prepareForUpdate: ({ spec }, old, ctx) => {
    dropSources(spec, ctx, old.spec);
    if (ctx.settings.sourceReferences !== false) alignSources(spec);
  },
  validate: ({ spec }, { dialect, settings }) =>
    claimSpecErrors(spec, dialect, "spec", allowedModes(settings)),
  // The reference validates a changed claim twice and reports every error twice.
  validateUpdate: (obj, old, { dialect, settings }) => {
    const modes = allowedModes(settings, old.spec.accessModes);
    const errors = claimSpecErrors(obj.spec, dialect, "spec", modes);
    return [...errors, ...errors, ...changeErrors(obj, old, { dialect, settings })];
  },
  warnings: ({ spec }) => claimWarnings(spec, "spec"),
  subresources: {
    status: {
      ...statusPart<PersistentVolumeClaim>(({ spec, status }, _old, { settings }) => {
        const errors = spec.accessModes?.length ? [] : [required("Spec.accessModes")];
        for (const [name, size] of Object.entries(status.capacity ?? {}))
          errors.push(...sizeErrors(size, `status.capacity[${name}]`));
        return settings.expansionRecovery ? [...errors, ...recoveryErrors(status)] : errors;
      }),
      merge: (sent, old, { settings }) => ({
        ...old,
        metadata: sent.metadata,
        status: settings.expansionRecovery ? sent.status : withoutRecovery(sent.status, old.status),
      }),
    },
  },
  columns: [
    nameColumn,
    {
      name: "Status",
      type: "string",
      doc: "Phase of the claim: Pending, Bound or Lost.",
      cell: ({ metadata, status }: PersistentVolumeClaim) => phaseText(metadata, status.phase),
    },
    {
      name: "Volume",
      type: "string",
      doc: "Volume that is bound to the claim.",
      cell: ({ spec }: PersistentVolumeClaim) => spec.volumeName ?? "",
    },
    {
      name: "Capacity",
      type: "string",
      doc: "Capacity of the bound volume.",
      cell: ({ spec, status }: PersistentVolumeClaim) =>
        spec.volumeName ? (status.capacity?.["storage"] ?? "0") : "",
    },
    {
      name: "Access Modes",
      type: "string",
      doc: "Access modes of the bound volume.",
      cell: ({ spec, status }: PersistentVolumeClaim) =>
        spec.volumeName ? accessModesText(status.accessModes) : "",
    },
    {
      name: "StorageClass",
      type: "string",
      doc: "Storage class of the claim.",
      cell: ({ metadata, spec }: PersistentVolumeClaim) => classText(metadata, spec.storageClassName),
    },
    ageColumn,
    {
      name: "VolumeMode",
      type: "string",
      priority: 1,
      doc: "Volume mode: Filesystem or Block.",
      cell: ({ spec }: PersistentVolumeClaim) => spec.volumeMode ?? "<unset>",
    },
  ],
});
