// Persistent volume claims.
import { type TypeOf, embedded, list, optional, pointer, required, string, time } from "#schema";
import { hiddenDefault, openEnum, patchMerge } from "../extras.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import {
  ConditionStatus,
  PersistentVolumeAccessMode,
  PersistentVolumeMode,
  ResourceList,
} from "../named-types.ts";
import { core } from "../packages.ts";
import { TypedLocalObjectReference, TypedObjectReference } from "./reference.ts";
import { ResourceRequirements } from "./resources.ts";

const { message, kind, named } = core;

export const PersistentVolumeClaimSpec = message("PersistentVolumeClaimSpec", "What storage is asked for.", {
  accessModes: optional(1, list(PersistentVolumeAccessMode), "How it must be mountable."),
  selector: optional(4, LabelSelector, "Which volumes may be bound."),
  resources: embedded(2, ResourceRequirements, "How much is needed."),
  volumeName: optional(3, string, "The volume bound to the claim."),
  storageClassName: pointer(
    5,
    string,
    "Class to take it from; empty for none, the default class when unset.",
  ),
  volumeMode: pointer(6, PersistentVolumeMode, "Filesystem, or Block for a raw device.", {
    ...openEnum("Block", "Filesystem"),
    ...hiddenDefault("Filesystem"),
  }),
  dataSource: optional(7, TypedLocalObjectReference, "Snapshot or claim to fill the new volume from."),
  dataSourceRef: optional(
    8,
    TypedObjectReference,
    "Like dataSource, for any kind of object, and perhaps another namespace.",
  ),
});
export type PersistentVolumeClaimSpec = TypeOf<typeof PersistentVolumeClaimSpec>;

export const PersistentVolumeClaimCondition = message(
  "PersistentVolumeClaimCondition",
  "One aspect of a claim's state.",
  {
    type: required(1, named("PersistentVolumeClaimConditionType", string), "What the condition is about."),
    status: required(2, ConditionStatus, "True, False or Unknown."),
    lastProbeTime: embedded(3, time, "When the condition was last checked."),
    lastTransitionTime: embedded(4, time, "When the status last changed."),
    reason: optional(5, string, "One CamelCase word for the last change."),
    message: optional(6, string, "The last change, for people."),
  },
);
export type PersistentVolumeClaimCondition = TypeOf<typeof PersistentVolumeClaimCondition>;

export const PersistentVolumeClaimStatus = message("PersistentVolumeClaimStatus", "What the claim got.", {
  phase: optional(1, named("PersistentVolumeClaimPhase", string), "Pending, Bound or Lost.", {
    ...openEnum("Bound", "Lost", "Pending"),
    ...hiddenDefault("Pending"),
  }),
  accessModes: optional(2, list(PersistentVolumeAccessMode), "How the bound volume can be mounted."),
  capacity: optional(3, ResourceList, "Size of the bound volume."),
  conditions: optional(
    4,
    list(PersistentVolumeClaimCondition),
    "What is going on with the claim; resizing, for one.",
    patchMerge("type"),
  ),
  allocatedResources: optional(5, ResourceList, "Size set aside, while a resize is under way."),
  resizeStatus: pointer(
    6,
    named("PersistentVolumeClaimResizeStatus", string),
    "How far a resize has come.",
    openEnum(
      "",
      "ControllerExpansionFailed",
      "ControllerExpansionInProgress",
      "NodeExpansionFailed",
      "NodeExpansionInProgress",
      "NodeExpansionPending",
    ),
  ),
});
export type PersistentVolumeClaimStatus = TypeOf<typeof PersistentVolumeClaimStatus>;

export const PersistentVolumeClaim = kind(
  "PersistentVolumeClaim",
  "A wish for storage that a volume fulfils.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(2, PersistentVolumeClaimSpec, "What storage is asked for."),
    status: embedded(3, PersistentVolumeClaimStatus, "What the claim got."),
  },
);
export type PersistentVolumeClaim = TypeOf<typeof PersistentVolumeClaim>;
