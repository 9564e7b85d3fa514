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
  "Parameters of a rolling update of a stateful set.",
  {
    partition: pointer(
      1,
      int32,
      "Ordinal from which pods are updated; pods with lower ordinals keep the old revision. Defaults to 0.",
    ),
    maxUnavailable: pointer(
      2,
      intOrString,
      "Maximum number or percentage of pods that may be unavailable during the update; defaults to 1.",
    ),
  },
);
export type RollingUpdateStatefulSetStrategy = TypeOf<typeof RollingUpdateStatefulSetStrategy>;

export const StatefulSetUpdateStrategy = message(
  "StatefulSetUpdateStrategy",
  "Strategy for replacing existing pods with pods of a new template.",
  {
    type: optional(
      1,
      named("StatefulSetUpdateStrategyType", string),
      "Type of the strategy: OnDelete or RollingUpdate (default).",
      openEnum("OnDelete", "RollingUpdate"),
    ),
    rollingUpdate: optional(
      2,
      RollingUpdateStatefulSetStrategy,
      "Parameters of the rolling update; used only with type RollingUpdate.",
    ),
  },
);
export type StatefulSetUpdateStrategy = TypeOf<typeof StatefulSetUpdateStrategy>;

export const StatefulSetPersistentVolumeClaimRetentionPolicy = message(
  "StatefulSetPersistentVolumeClaimRetentionPolicy",
  "Policy for the claims created from the volume claim templates.",
  {
    whenDeleted: optional(
      1,
      PersistentVolumeClaimRetentionPolicyType,
      "Policy when the stateful set is deleted: Retain (default) or Delete.",
    ),
    whenScaled: optional(
      2,
      PersistentVolumeClaimRetentionPolicyType,
      "Policy for claims of pods that are removed by scaling down: Retain (default) or Delete.",
    ),
  },
);
export type StatefulSetPersistentVolumeClaimRetentionPolicy = TypeOf<
  typeof StatefulSetPersistentVolumeClaimRetentionPolicy
>;

export const StatefulSetOrdinals = message(
  "StatefulSetOrdinals",
  "Control of the ordinals assigned to the pods.",
  {
    start: required(1, int32, "Ordinal of the first pod.", { published: "optional" }),
  },
);
export type StatefulSetOrdinals = TypeOf<typeof StatefulSetOrdinals>;

export const StatefulSetSpec = message("StatefulSetSpec", "Specification of a stateful set.", {
  replicas: pointer(1, int32, "Desired number of pods; defaults to 1.", hiddenDefault(1)),
  selector: required(
    2,
    LabelSelector,
    "Label selector of the managed pods; must match the labels of the pod template, immutable.",
    { nullable: true },
  ),
  template: embedded(
    3,
    PodTemplateSpec,
    "Template from which the pods are created; each has a unique identity.",
    { published: "required" },
  ),
  volumeClaimTemplates: optional(
    4,
    list(PersistentVolumeClaim),
    "Claims to create for each pod; at least one container should mount each of them by name.",
  ),
  serviceName: required(5, string, "Name of the headless service that governs the DNS names of the pods."),
  podManagementPolicy: optional(
    6,
    named("PodManagementPolicyType", string),
    "How pods are created and deleted: OrderedReady (default) in order of their ordinals, " +
      "Parallel at once.",
    {
      ...openEnum("OrderedReady", "Parallel"),
      ...hiddenDefault("OrderedReady"),
    },
  ),
  updateStrategy: embedded(
    7,
    StatefulSetUpdateStrategy,
    "Strategy for replacing existing pods with pods of a new template.",
  ),
  revisionHistoryLimit: pointer(
    8,
    int32,
    "Number of old revisions to retain for rollbacks; defaults to 10.",
    hiddenDefault(10),
  ),
  minReadySeconds: optional(
    9,
    int32,
    "Minimum number of seconds for which a new pod must be ready to count as available.",
  ),
  persistentVolumeClaimRetentionPolicy: optional(
    10,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
    "Lifecycle of claims created from the volume claim templates; by default, all are retained.",
  ),
  ordinals: optional(
    11,
    StatefulSetOrdinals,
    "Control of the ordinals assigned to the pods; they start at 0 if unset.",
  ),
});
export type StatefulSetSpec = TypeOf<typeof StatefulSetSpec>;

export const StatefulSetCondition = message("StatefulSetCondition", "A condition of a stateful set.", {
  type: required(1, named("StatefulSetConditionType", string), "Type of the condition."),
  status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
  lastTransitionTime: embedded(3, time, "Time at which the status of the condition last changed."),
  reason: optional(4, string, "Machine-readable reason for the last transition, one CamelCase word."),
  message: optional(5, string, "Human-readable details of the last transition."),
});
export type StatefulSetCondition = TypeOf<typeof StatefulSetCondition>;

export const StatefulSetStatus = message("StatefulSetStatus", "Current status of a stateful set.", {
  observedGeneration: optional(1, int64, "Generation of the object that this status reflects."),
  replicas: required(2, int32, "Number of pods created by the controller."),
  readyReplicas: optional(3, int32, "Number of ready pods."),
  currentReplicas: optional(4, int32, "Number of pods of the revision named by currentRevision."),
  updatedReplicas: optional(5, int32, "Number of pods of the revision named by updateRevision."),
  currentRevision: optional(6, string, "Name of the revision that pods are updated from."),
  updateRevision: optional(7, string, "Name of the revision that pods are updated to."),
  collisionCount: pointer(
    9,
    int32,
    "Number of hash collisions of revision names, used to generate a unique name.",
  ),
  conditions: optional(
    10,
    list(StatefulSetCondition),
    "Latest observed conditions, one for each type.",
    patchMerge("type"),
  ),
  availableReplicas: required(
    11,
    int32,
    "Number of pods that have been ready for at least minReadySeconds.",
    { published: "optional" },
  ),
});
export type StatefulSetStatus = TypeOf<typeof StatefulSetStatus>;

export const StatefulSet = kind(
  "StatefulSet",
  "Manages pods with stable network identities and stable storage.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, StatefulSetSpec, "Specification of the desired behavior of the stateful set."),
    status: embedded(3, StatefulSetStatus, "Most recently observed status of the stateful set."),
  },
);
export type StatefulSet = TypeOf<typeof StatefulSet>;
