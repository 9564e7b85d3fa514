// Stateful sets: pods with a stable name and storage.
import {
  type TypeOf,
  embedded,
  int32,
  int64,
  intOrString,
  list,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { PodTemplateSpec } from "../core/pod.ts";
import { PersistentVolumeClaim } from "../core/volume-claim.ts";
import { hiddenDefault, openEnum, patchMerge } from "../extras.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus, PersistentVolumeClaimRetentionPolicyType } from "../named-types.ts";
import { apps } from "../packages.ts";

const { message, kind, named } = apps;

export const RollingUpdateStatefulSetStrategy = message(
  "RollingUpdateStatefulSetStrategy",
  "Settings of a rolling update.",
  {
    partition: pointer(1, int32, "Only pods from this ordinal on are updated."),
    maxUnavailable: pointer(2, intOrString, "How many pods may be missing, as a number or a share."),
  },
);
export type RollingUpdateStatefulSetStrategy = TypeOf<typeof RollingUpdateStatefulSetStrategy>;

export const StatefulSetUpdateStrategy = message(
  "StatefulSetUpdateStrategy",
  "How old pods give way to new ones.",
  {
    type: optional(
      1,
      named("StatefulSetUpdateStrategyType", string),
      "OnDelete, or RollingUpdate.",
      openEnum("OnDelete", "RollingUpdate"),
    ),
    rollingUpdate: optional(2, RollingUpdateStatefulSetStrategy, "Settings of RollingUpdate."),
  },
);
export type StatefulSetUpdateStrategy = TypeOf<typeof StatefulSetUpdateStrategy>;

export const StatefulSetPersistentVolumeClaimRetentionPolicy = message(
  "StatefulSetPersistentVolumeClaimRetentionPolicy",
  "What becomes of claims that are no longer used.",
  {
    whenDeleted: optional(
      1,
      PersistentVolumeClaimRetentionPolicyType,
      "Once the set is deleted: Retain or Delete.",
    ),
    whenScaled: optional(
      2,
      PersistentVolumeClaimRetentionPolicyType,
      "Once a pod is scaled away: Retain or Delete.",
    ),
  },
);
export type StatefulSetPersistentVolumeClaimRetentionPolicy = TypeOf<
  typeof StatefulSetPersistentVolumeClaimRetentionPolicy
>;

export const StatefulSetOrdinals = message("StatefulSetOrdinals", "How pods are numbered.", {
  start: required(1, int32, "Number of the first pod.", { published: "optional" }),
});
export type StatefulSetOrdinals = TypeOf<typeof StatefulSetOrdinals>;

export const StatefulSetSpec = message("StatefulSetSpec", "What pods are wanted, with what storage.", {
  replicas: pointer(1, int32, "How many pods.", hiddenDefault(1)),
  selector: required(2, LabelSelector, "Which pods belong to it; never changes.", { nullable: true }),
  template: embedded(3, PodTemplateSpec, "What the pods look like.", { published: "required" }),
  volumeClaimTemplates: optional(4, list(PersistentVolumeClaim), "Claims made for each pod."),
  serviceName: required(5, string, "Service that gives the pods their names."),
  podManagementPolicy: optional(
    6,
    named("PodManagementPolicyType", string),
    "OrderedReady takes pods one by one, Parallel all at once.",
    {
      ...openEnum("OrderedReady", "Parallel"),
      ...hiddenDefault("OrderedReady"),
    },
  ),
  updateStrategy: embedded(7, StatefulSetUpdateStrategy, "How old pods give way to new ones."),
  revisionHistoryLimit: pointer(
    8,
    int32,
    "How many old revisions are kept to go back to.",
    hiddenDefault(10),
  ),
  minReadySeconds: optional(9, int32, "Seconds a new pod must stay ready before it counts."),
  persistentVolumeClaimRetentionPolicy: optional(
    10,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
    "What becomes of claims that are no longer used.",
  ),
  ordinals: optional(11, StatefulSetOrdinals, "How pods are numbered; from 0 when unset."),
});
export type StatefulSetSpec = TypeOf<typeof StatefulSetSpec>;

export const StatefulSetCondition = message("StatefulSetCondition", "One aspect of a stateful set's state.", {
  type: required(1, named("StatefulSetConditionType", string), "What the condition is about."),
  status: required(2, ConditionStatus, "True, False or Unknown."),
  lastTransitionTime: embedded(3, time, "When the status last changed."),
  reason: optional(4, string, "One CamelCase word for the last change."),
  message: optional(5, string, "The last change, for people."),
});
export type StatefulSetCondition = TypeOf<typeof StatefulSetCondition>;

export const StatefulSetStatus = message("StatefulSetStatus", "How far a stateful set has come.", {
  observedGeneration: optional(1, int64, "The generation this status belongs to."),
  replicas: required(2, int32, "Pods there are."),
  readyReplicas: optional(3, int32, "Pods that are ready."),
  currentReplicas: optional(4, int32, "Pods of the current revision."),
  updatedReplicas: optional(5, int32, "Pods of the update revision."),
  currentRevision: optional(6, string, "Revision that pods are updated from."),
  updateRevision: optional(7, string, "Revision that pods are updated to."),
  collisionCount: pointer(9, int32, "How often a revision's name was taken; goes into the next name."),
  conditions: optional(
    10,
    list(StatefulSetCondition),
    "The latest observations, one for each type.",
    patchMerge("type"),
  ),
  availableReplicas: required(11, int32, "Pods that have been ready long enough.", { published: "optional" }),
});
export type StatefulSetStatus = TypeOf<typeof StatefulSetStatus>;

export const StatefulSet = kind("StatefulSet", "Keeps pods that differ by name and storage.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, StatefulSetSpec, "What pods are wanted."),
  status: embedded(3, StatefulSetStatus, "How far it has come."),
});
export type StatefulSet = TypeOf<typeof StatefulSet>;
