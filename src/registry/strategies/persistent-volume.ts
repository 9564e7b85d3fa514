// Persistent volumes: their source is immutable.
import { PersistentVolume, type PersistentVolumeSpec } from "#api";
import { type FieldError, forbiddenField, invalidValue, own, timeOfMillis } from "#base";
import type { Dialect } from "#dialect";
import { type RequestContext, strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { accessModesText, classText, phaseText } from "./cells/volume.ts";
import { statusPart } from "./parts.ts";
import { termWarnings } from "./pod-warnings.ts";
import { roundUp } from "./rules/round-up.ts";
import { same, unchanged } from "./rules/unchanged.ts";
import { allowedModes } from "./rules/access-modes.ts";
import { sourceKeys, volumeSpecErrors } from "./volume-rules.ts";

/** Sources for which an annotation may set mount options. */
// prettier-ignore
const mountable = ["gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk"] as const;

function mountErrors({ metadata, spec }: PersistentVolume, { names }: Dialect): FieldError[] {
  const key = names.annotations.mountOptions;
  if (metadata.annotations?.[key] === undefined || mountable.some((source) => spec[source])) return [];
  return [
    forbiddenField(`metadata.annotations.${key}`, "may not specify mount options for this volume type"),
  ];
}

/**
 * Reports whether the node affinity is unchanged, apart from deprecated label names that are replaced by
 * their successors. A label without a name is no change here, but a separate error.
 */
function sameAffinity(
  now: PersistentVolumeSpec["nodeAffinity"],
  old: PersistentVolumeSpec["nodeAffinity"],
  { names: { labels } }: Dialect,
): boolean {
  const newer: Readonly<Record<string, string>> = {
    [labels.betaZone]: labels.zone,
    [labels.betaRegion]: labels.region,
    [labels.betaOs]: labels.os,
    [labels.betaArch]: labels.arch,
    [labels.betaInstanceType]: labels.instanceType,
  };
  const renamed = structuredClone(old);
  renamed?.required?.nodeSelectorTerms?.forEach((term, position) => {
    for (const part of ["matchExpressions", "matchFields"] as const) {
      term[part]?.forEach((before, index) => {
        const key = now?.required?.nodeSelectorTerms?.[position]?.[part]?.[index]?.key;
        if (key !== undefined && (own(newer, before.key) ?? "") === key) before.key = key;
      });
    }
  });
  return same(now, renamed);
}

function changeErrors(spec: PersistentVolumeSpec, old: PersistentVolumeSpec, dialect: Dialect): FieldError[] {
  const source = (of: PersistentVolumeSpec): Record<string, unknown> =>
    Object.fromEntries(sourceKeys.filter((key) => of[key] !== undefined).map((key) => [key, of[key]]));
  const [now, before] = [source(spec), source(old)];
  // The secret for controller expansion may be added later.
  if (spec.csi && old.csi && !old.csi.controllerExpandSecretRef)
    now["csi"] = Object.fromEntries(
      Object.entries(spec.csi).filter(([key]) => key !== "controllerExpandSecretRef"),
    );
  const errors = same(now, before)
    ? []
    : [
        forbiddenField(
          "spec.persistentvolumesource",
          "spec.persistentvolumesource is immutable after creation",
        ),
      ];
  errors.push(...unchanged(spec.volumeMode, old.volumeMode, "volumeMode"));
  if (old.nodeAffinity && !sameAffinity(spec.nodeAffinity, old.nodeAffinity, dialect))
    errors.push(
      invalidValue(
        "nodeAffinity",
        spec.nodeAffinity ?? null,
        "field is immutable, except for updating from beta label to GA",
      ),
    );
  return errors;
}

const part = statusPart<PersistentVolume>();

/** Sets the time of a change of the phase unless the client did, and otherwise keeps it. */
function withTime(
  volume: PersistentVolume,
  { status: old }: PersistentVolume,
  { settings, now }: RequestContext,
): PersistentVolume {
  const { phase, lastPhaseTransitionTime: sent } = volume.status;
  if (!settings.phaseTimes) return volume;
  const kept = phase === old.phase;
  if (kept ? sent : sent && sent !== old.lastPhaseTransitionTime) return volume;
  const time = kept ? old.lastPhaseTransitionTime : timeOfMillis(now.getTime());
  return time === undefined
    ? volume
    : { ...volume, status: { ...volume.status, lastPhaseTransitionTime: time } };
}

export const persistentVolume = strategy<PersistentVolume>({
  resource: "persistentvolumes",
  singular: "persistentvolume",
  shortNames: ["pv"],
  scope: "Cluster",
  hub: PersistentVolume,
  metaChecks: { asNew: 2, asChange: 0 },
  status: "cleared",
  returnsDeleted: true,
  defaults: ({ spec }) => {
    spec.persistentVolumeReclaimPolicy ||= "Retain";
    spec.volumeMode ??= "Filesystem";
    roundUp(spec.capacity);
  },
  restore: ({ status }) => void (status.phase ||= "Pending"),
  prepareForCreate: (obj, { settings, now }) => {
    obj.status = settings.phaseTimes
      ? { phase: "Pending", lastPhaseTransitionTime: timeOfMillis(now.getTime()) }
      : {};
  },
  validate: (obj, { dialect, settings }) => [
    ...volumeSpecErrors(obj.spec, "spec", dialect, {
      name: obj.metadata.name,
      accessModes: allowedModes(settings),
    }),
    ...mountErrors(obj, dialect),
  ],
  // The reference validates a changed volume twice and reports every error twice.
  validateUpdate: (obj, { spec: old }, { dialect, settings }) => {
    const errors = volumeSpecErrors(obj.spec, "spec", dialect, {
      name: obj.metadata.name,
      accessModes: allowedModes(settings, old.accessModes),
    });
    return [...errors, ...mountErrors(obj, dialect), ...errors, ...changeErrors(obj.spec, old, dialect)];
  },
  warnings: ({ spec }, _old, { dialect }) =>
    (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).flatMap((term, position) =>
      termWarnings(term, dialect, `spec.nodeAffinity.required.nodeSelectorTerms[${position}]`),
    ),
  subresources: {
    status: { ...part, merge: (sent, old, ctx) => withTime(part.merge(sent, old, ctx), old, ctx) },
  },
  columns: [
    nameColumn,
    {
      name: "Capacity",
      type: "string",
      doc: "Capacity of the volume.",
      cell: ({ spec }: PersistentVolume) => spec.capacity?.["storage"] ?? "0",
    },
    {
      name: "Access Modes",
      type: "string",
      doc: "Access modes of the volume.",
      cell: ({ spec }: PersistentVolume) => accessModesText(spec.accessModes),
    },
    {
      name: "Reclaim Policy",
      type: "string",
      doc: "What happens to the volume when its claim is deleted.",
      cell: ({ spec }: PersistentVolume) => spec.persistentVolumeReclaimPolicy ?? "",
    },
    {
      name: "Status",
      type: "string",
      doc: "Phase of the volume.",
      cell: ({ metadata, status }: PersistentVolume) => phaseText(metadata, status.phase),
    },
    {
      name: "Claim",
      type: "string",
      doc: "Claim that the volume is bound to.",
      cell: ({ spec }: PersistentVolume) =>
        spec.claimRef ? `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}` : "",
    },
    {
      name: "StorageClass",
      type: "string",
      doc: "Storage class of the volume.",
      cell: ({ metadata, spec }: PersistentVolume) => classText(metadata, spec.storageClassName),
    },
    {
      name: "Reason",
      type: "string",
      doc: "Reason for the current phase.",
      cell: ({ status }: PersistentVolume) => status.reason ?? "",
    },
    ageColumn,
    {
      name: "VolumeMode",
      type: "string",
      priority: 1,
      doc: "Volume mode: Filesystem or Block.",
      cell: ({ spec }: PersistentVolume) => spec.volumeMode ?? "<unset>",
    },
  ],
});
