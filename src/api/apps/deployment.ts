// Deployments and their replica sets.
import {
  type TypeOf,
  bool,
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
import { hiddenDefault, openEnum, patchMerge } from "../extras.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus } from "../named-types.ts";
import { apps } from "../packages.ts";

const { message, kind, named } = apps;

export const RollingUpdateDeployment = message(
  "RollingUpdateDeployment",
  "How far a rolling update may stray from the wanted number.",
  {
    maxUnavailable: pointer(1, intOrString, "How many pods may be missing, as a number or a share."),
    maxSurge: pointer(2, intOrString, "How many pods may be too many, as a number or a share."),
  },
);
export type RollingUpdateDeployment = TypeOf<typeof RollingUpdateDeployment>;

export const DeploymentStrategy = message("DeploymentStrategy", "How old pods give way to new ones.", {
  type: optional(1, named("DeploymentStrategyType", string), "Recreate, or RollingUpdate.", {
    ...openEnum("Recreate", "RollingUpdate"),
    ...hiddenDefault("RollingUpdate"),
  }),
  rollingUpdate: optional(2, RollingUpdateDeployment, "Settings of RollingUpdate."),
});
export type DeploymentStrategy = TypeOf<typeof DeploymentStrategy>;

export const DeploymentSpec = message("DeploymentSpec", "What pods are wanted, and how they are replaced.", {
  replicas: pointer(1, int32, "How many pods.", hiddenDefault(1)),
  selector: required(2, LabelSelector, "Which pods belong to it; never changes.", { nullable: true }),
  template: embedded(3, PodTemplateSpec, "What the pods look like.", { published: "required" }),
  strategy: embedded(4, DeploymentStrategy, "How old pods give way to new ones.", {
    patch: { strategy: "retainKeys" },
  }),
  minReadySeconds: optional(5, int32, "Seconds a new pod must stay ready before it counts."),
  revisionHistoryLimit: pointer(
    6,
    int32,
    "How many old replica sets are kept to go back to.",
    hiddenDefault(10),
  ),
  paused: optional(7, bool, "Holds all changes of the template back."),
  progressDeadlineSeconds: pointer(
    9,
    int32,
    "Seconds without progress after which it counts as failed.",
    hiddenDefault(600),
  ),
});
export type DeploymentSpec = TypeOf<typeof DeploymentSpec>;

export const DeploymentCondition = message("DeploymentCondition", "One aspect of a deployment's state.", {
  type: required(1, named("DeploymentConditionType", string), "What the condition is about."),
  status: required(2, ConditionStatus, "True, False or Unknown."),
  lastUpdateTime: embedded(6, time, "When the condition was last written."),
  lastTransitionTime: embedded(7, time, "When the status last changed."),
  reason: optional(4, string, "One CamelCase word for the last change."),
  message: optional(5, string, "The last change, for people."),
});
export type DeploymentCondition = TypeOf<typeof DeploymentCondition>;

export const DeploymentStatus = message("DeploymentStatus", "How far a deployment has come.", {
  observedGeneration: optional(1, int64, "The generation this status belongs to."),
  replicas: optional(2, int32, "Pods there are."),
  updatedReplicas: optional(3, int32, "Pods of the present template."),
  readyReplicas: optional(7, int32, "Pods that are ready."),
  availableReplicas: optional(4, int32, "Pods that have been ready long enough."),
  unavailableReplicas: optional(5, int32, "Pods still missing."),
  conditions: optional(
    6,
    list(DeploymentCondition),
    "The latest observations, one for each type.",
    patchMerge("type"),
  ),
  collisionCount: pointer(8, int32, "How often a replica set's name was taken; goes into the next name."),
});
export type DeploymentStatus = TypeOf<typeof DeploymentStatus>;

export const Deployment = kind("Deployment", "Keeps pods running and replaces them step by step.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, DeploymentSpec, "What pods are wanted."),
  status: embedded(3, DeploymentStatus, "How far it has come."),
});
export type Deployment = TypeOf<typeof Deployment>;

export const ReplicaSetSpec = message("ReplicaSetSpec", "How many pods of what kind.", {
  replicas: pointer(1, int32, "How many pods.", hiddenDefault(1)),
  minReadySeconds: optional(4, int32, "Seconds a new pod must stay ready before it counts."),
  selector: required(2, LabelSelector, "Which pods belong to it; never changes.", { nullable: true }),
  template: embedded(3, PodTemplateSpec, "What the pods look like."),
});
export type ReplicaSetSpec = TypeOf<typeof ReplicaSetSpec>;

export const ReplicaSetCondition = message("ReplicaSetCondition", "One aspect of a replica set's state.", {
  type: required(1, named("ReplicaSetConditionType", string), "What the condition is about."),
  status: required(2, ConditionStatus, "True, False or Unknown."),
  lastTransitionTime: embedded(3, time, "When the status last changed."),
  reason: optional(4, string, "One CamelCase word for the last change."),
  message: optional(5, string, "The last change, for people."),
});
export type ReplicaSetCondition = TypeOf<typeof ReplicaSetCondition>;

export const ReplicaSetStatus = message("ReplicaSetStatus", "How many pods there are.", {
  replicas: required(1, int32, "Pods there are."),
  fullyLabeledReplicas: optional(2, int32, "Pods with all labels of the template."),
  readyReplicas: optional(4, int32, "Pods that are ready."),
  availableReplicas: optional(5, int32, "Pods that have been ready long enough."),
  observedGeneration: optional(3, int64, "The generation this status belongs to."),
  conditions: optional(
    6,
    list(ReplicaSetCondition),
    "The latest observations, one for each type.",
    patchMerge("type"),
  ),
});
export type ReplicaSetStatus = TypeOf<typeof ReplicaSetStatus>;

export const ReplicaSet = kind("ReplicaSet", "Keeps a number of equal pods running.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, ReplicaSetSpec, "How many pods of what kind."),
  status: embedded(3, ReplicaSetStatus, "How many there are."),
});
export type ReplicaSet = TypeOf<typeof ReplicaSet>;
