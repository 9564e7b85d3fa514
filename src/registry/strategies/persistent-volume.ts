// Persistent volumes: where they are never changes once they exist.
import { PersistentVolume, type PersistentVolumeSpec } from "#api";
import { type FieldError, forbiddenField } from "#base";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { accessModesText, classText, phaseText } from "./cells/volume.ts";
import { statusPart } from "./parts.ts";
import { same, unchanged } from "./rules/unchanged.ts";
import { sourceKeys, volumeSpecErrors } from "./volume-rules.ts";

function changeErrors(spec: PersistentVolumeSpec, old: PersistentVolumeSpec): FieldError[] {
  const source = (of: PersistentVolumeSpec): Record<string, unknown> => Object.fromEntries(sourceKeys.filter((key) => of[key] !== undefined).map((key) => [key, of[key]]));
  const [now, before] = [source(spec), source(old)];
  // A secret for growing the volume may be added later.
  if (spec.csi && old.csi && !old.csi.controllerExpandSecretRef) now["csi"] = Object.fromEntries(Object.entries(spec.csi).filter(([key]) => key !== "controllerExpandSecretRef"));
  const errors = same(now, before) ? [] : [forbiddenField("spec.persistentvolumesource", "the volume's source is immutable after creation")];
  errors.push(...unchanged(spec.volumeMode, old.volumeMode, "volumeMode"));
  return old.nodeAffinity ? [...errors, ...unchanged(spec.nodeAffinity, old.nodeAffinity, "nodeAffinity")] : errors;
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
  },
  prepareForCreate: (obj) => {
    obj.status = { phase: "Pending" };
  },
  validate: ({ spec }, { dialect }) => volumeSpecErrors(spec, "spec", dialect),
  validateUpdate: ({ spec }, { spec: old }, { dialect }) => [...volumeSpecErrors(spec, "spec", dialect), ...changeErrors(spec, old)],
  fields: ({ metadata }) => ({ name: metadata.name ?? "" }),
  subresources: { status: statusPart() },
  columns: [
    nameColumn,
    { name: "Capacity", type: "string", doc: "Its size.", cell: ({ spec }: PersistentVolume) => spec.capacity?.["storage"] ?? "0" },
    { name: "Access Modes", type: "string", doc: "How it can be mounted.", cell: ({ spec }: PersistentVolume) => accessModesText(spec.accessModes) },
    { name: "Reclaim Policy", type: "string", doc: "What happens once its claim is gone.", cell: ({ spec }: PersistentVolume) => spec.persistentVolumeReclaimPolicy ?? "" },
    { name: "Status", type: "string", doc: "Where it is in its life.", cell: ({ metadata, status }: PersistentVolume) => phaseText(metadata, status.phase) },
    {
      name: "Claim",
      type: "string",
      doc: "The claim it is bound to.",
      cell: ({ spec }: PersistentVolume) => (spec.claimRef ? `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}` : ""),
    },
    { name: "StorageClass", type: "string", doc: "The class it belongs to.", cell: ({ metadata, spec }: PersistentVolume) => classText(metadata, spec.storageClassName) },
    { name: "Reason", type: "string", doc: "Why it is in this state.", cell: ({ status }: PersistentVolume) => status.reason ?? "" },
    ageColumn,
    { name: "VolumeMode", type: "string", priority: 1, doc: "File system or raw device.", cell: ({ spec }: PersistentVolume) => spec.volumeMode ?? "<unset>" },
  ],
});
