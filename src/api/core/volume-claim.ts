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

export const PersistentVolumeClaimSpec = message(
  "PersistentVolumeClaimSpec",
  "Specification of a persistent volume claim.",
  {
    accessModes: optional(1, list(PersistentVolumeAccessMode), "Access modes that the volume must support."),
    selector: optional(4, LabelSelector, "Label selector of the volumes that may be bound."),
    resources: embedded(2, ResourceRequirements, "Minimum resources that the volume must have."),
    volumeName: optional(3, string, "Name of the persistent volume bound to the claim."),
    storageClassName: pointer(
      5,
      string,
      "Name of the storage class; empty requests a volume without a class, unset the default class.",
    ),
    volumeMode: pointer(
      6,
      PersistentVolumeMode,
      "Whether the volume is used with a file system (Filesystem, the default) or as a raw device (Block).",
      {
        ...openEnum("Block", "Filesystem"),
        ...hiddenDefault("Filesystem"),
      },
    ),
    dataSource: optional(
      7,
      TypedLocalObjectReference,
      "Volume snapshot or existing claim that the new volume is populated from.",
    ),
    dataSourceRef: optional(
      8,
      TypedObjectReference,
      "Like dataSource, but allows any kind of object and, if enabled, another namespace.",
    ),
  },
);
export type PersistentVolumeClaimSpec = TypeOf<typeof PersistentVolumeClaimSpec>;

export const PersistentVolumeClaimCondition = message(
  "PersistentVolumeClaimCondition",
  "A condition of a persistent volume claim.",
  {
    type: required(1, named("PersistentVolumeClaimConditionType", string), "Type of the condition."),
    status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
    lastProbeTime: embedded(3, time, "Time at which the condition was last checked."),
    lastTransitionTime: embedded(4, time, "Time at which the status of the condition last changed."),
    reason: optional(5, string, "Machine-readable reason for the last transition, one CamelCase word."),
    message: optional(6, string, "Human-readable details of the last transition."),
  },
);
export type PersistentVolumeClaimCondition = TypeOf<typeof PersistentVolumeClaimCondition>;

export const PersistentVolumeClaimStatus = message(
  "PersistentVolumeClaimStatus",
  "Current status of a persistent volume claim.",
  {
    phase: optional(
      1,
      named("PersistentVolumeClaimPhase", string),
      "Phase of the claim: Pending, Bound or Lost.",
      {
        ...openEnum("Bound", "Lost", "Pending"),
        ...hiddenDefault("Pending"),
      },
    ),
    accessModes: optional(2, list(PersistentVolumeAccessMode), "Actual access modes of the bound volume."),
    capacity: optional(3, ResourceList, "Actual resources of the bound volume."),
    conditions: optional(
      4,
      list(PersistentVolumeClaimCondition),
      "Current conditions of the claim, such as those of a resize in progress.",
      patchMerge("type"),
    ),
    allocatedResources: optional(
      5,
      ResourceList,
      "Storage allocated to the claim, which may exceed the capacity while a resize is in progress.",
    ),
    resizeStatus: pointer(
      6,
      named("PersistentVolumeClaimResizeStatus", string),
      "Status of a resize operation; unset or empty if none is in progress.",
      openEnum(
        "",
        "ControllerExpansionFailed",
        "ControllerExpansionInProgress",
        "NodeExpansionFailed",
        "NodeExpansionInProgress",
        "NodeExpansionPending",
      ),
    ),
  },
);
export type PersistentVolumeClaimStatus = TypeOf<typeof PersistentVolumeClaimStatus>;

export const PersistentVolumeClaim = kind(
  "PersistentVolumeClaim",
  "A request for storage, which is satisfied by a bound persistent volume.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, PersistentVolumeClaimSpec, "Desired characteristics of the volume."),
    status: embedded(3, PersistentVolumeClaimStatus, "Current status of the claim."),
  },
);
export type PersistentVolumeClaim = TypeOf<typeof PersistentVolumeClaim>;
