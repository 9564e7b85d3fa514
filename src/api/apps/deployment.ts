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
  "Parameters of a rolling update of a deployment.",
  {
    maxUnavailable: pointer(
      1,
      intOrString,
      "Maximum number or percentage of pods that may be unavailable during the update; defaults to 25%.",
    ),
    maxSurge: pointer(
      2,
      intOrString,
      "Maximum number or percentage of pods above the desired number during the update; defaults to 25%.",
    ),
  },
);
export type RollingUpdateDeployment = TypeOf<typeof RollingUpdateDeployment>;

export const DeploymentStrategy = message(
  "DeploymentStrategy",
  "Strategy for replacing existing pods with pods of a new template.",
  {
    type: optional(
      1,
      named("DeploymentStrategyType", string),
      "Type of the strategy: Recreate or RollingUpdate (default).",
      {
        ...openEnum("Recreate", "RollingUpdate"),
        ...hiddenDefault("RollingUpdate"),
      },
    ),
    rollingUpdate: optional(
      2,
      RollingUpdateDeployment,
      "Parameters of the rolling update; used only with type RollingUpdate.",
    ),
  },
);
export type DeploymentStrategy = TypeOf<typeof DeploymentStrategy>;

export const DeploymentSpec = message("DeploymentSpec", "Specification of a deployment.", {
  replicas: pointer(1, int32, "Desired number of pods; defaults to 1.", hiddenDefault(1)),
  selector: required(
    2,
    LabelSelector,
    "Label selector of the managed pods; must match the labels of the pod template, immutable.",
    { nullable: true },
  ),
  template: embedded(3, PodTemplateSpec, "Template from which the pods are created.", {
    published: "required",
  }),
  strategy: embedded(
    4,
    DeploymentStrategy,
    "Strategy for replacing existing pods with pods of a new template.",
    {
      patch: { strategy: "retainKeys" },
    },
  ),
  minReadySeconds: optional(
    5,
    int32,
    "Minimum number of seconds for which a new pod must be ready to count as available.",
  ),
  revisionHistoryLimit: pointer(
    6,
    int32,
    "Number of old replica sets to retain for rollbacks; defaults to 10.",
    hiddenDefault(10),
  ),
  paused: optional(7, bool, "Whether the rollout of changes to the pod template is paused."),
  progressDeadlineSeconds: pointer(
    9,
    int32,
    "Seconds without progress after which the rollout is considered failed; defaults to 600.",
    hiddenDefault(600),
  ),
});
export type DeploymentSpec = TypeOf<typeof DeploymentSpec>;

export const DeploymentCondition = message("DeploymentCondition", "A condition of a deployment.", {
  type: required(1, named("DeploymentConditionType", string), "Type of the condition."),
  status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
  lastUpdateTime: embedded(6, time, "Time at which the condition was last updated."),
  lastTransitionTime: embedded(7, time, "Time at which the status of the condition last changed."),
  reason: optional(4, string, "Machine-readable reason for the last transition, one CamelCase word."),
  message: optional(5, string, "Human-readable details of the last transition."),
});
export type DeploymentCondition = TypeOf<typeof DeploymentCondition>;

export const DeploymentStatus = message("DeploymentStatus", "Current status of a deployment.", {
  observedGeneration: optional(1, int64, "Generation of the object that this status reflects."),
  replicas: optional(2, int32, "Total number of non-terminated pods that match the selector."),
  updatedReplicas: optional(3, int32, "Number of non-terminated pods of the current template."),
  readyReplicas: optional(7, int32, "Number of ready pods."),
  availableReplicas: optional(4, int32, "Number of pods that have been ready for at least minReadySeconds."),
  unavailableReplicas: optional(
    5,
    int32,
    "Number of pods that are still required for the deployment to be fully available.",
  ),
  conditions: optional(
    6,
    list(DeploymentCondition),
    "Latest observed conditions, one for each type.",
    patchMerge("type"),
  ),
  collisionCount: pointer(
    8,
    int32,
    "Number of hash collisions of replica set names, used to generate a unique name.",
  ),
});
export type DeploymentStatus = TypeOf<typeof DeploymentStatus>;

export const Deployment = kind("Deployment", "Provides declarative updates for pods and replica sets.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, DeploymentSpec, "Specification of the desired behavior of the deployment."),
  status: embedded(3, DeploymentStatus, "Most recently observed status of the deployment."),
});
export type Deployment = TypeOf<typeof Deployment>;

export const ReplicaSetSpec = message("ReplicaSetSpec", "Specification of a replica set.", {
  replicas: pointer(1, int32, "Desired number of pods; defaults to 1.", hiddenDefault(1)),
  minReadySeconds: optional(
    4,
    int32,
    "Minimum number of seconds for which a new pod must be ready to count as available.",
  ),
  selector: required(
    2,
    LabelSelector,
    "Label selector of the managed pods; must match the labels of the pod template, immutable.",
    { nullable: true },
  ),
  template: embedded(3, PodTemplateSpec, "Template from which missing pods are created."),
});
export type ReplicaSetSpec = TypeOf<typeof ReplicaSetSpec>;

export const ReplicaSetCondition = message("ReplicaSetCondition", "A condition of a replica set.", {
  type: required(1, named("ReplicaSetConditionType", string), "Type of the condition."),
  status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
  lastTransitionTime: embedded(3, time, "Time at which the status of the condition last changed."),
  reason: optional(4, string, "Machine-readable reason for the last transition, one CamelCase word."),
  message: optional(5, string, "Human-readable details of the last transition."),
});
export type ReplicaSetCondition = TypeOf<typeof ReplicaSetCondition>;

export const ReplicaSetStatus = message("ReplicaSetStatus", "Current status of a replica set.", {
  replicas: required(1, int32, "Most recently observed number of pods."),
  fullyLabeledReplicas: optional(2, int32, "Number of pods that have all labels of the pod template."),
  readyReplicas: optional(4, int32, "Number of ready pods."),
  availableReplicas: optional(5, int32, "Number of pods that have been ready for at least minReadySeconds."),
  observedGeneration: optional(3, int64, "Generation of the object that this status reflects."),
  conditions: optional(
    6,
    list(ReplicaSetCondition),
    "Latest observed conditions, one for each type.",
    patchMerge("type"),
  ),
});
export type ReplicaSetStatus = TypeOf<typeof ReplicaSetStatus>;

export const ReplicaSet = kind(
  "ReplicaSet",
  "Ensures that a specified number of identical pods is running.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, ReplicaSetSpec, "Specification of the desired behavior of the replica set."),
    status: embedded(3, ReplicaSetStatus, "Most recently observed status of the replica set."),
  },
);
export type ReplicaSet = TypeOf<typeof ReplicaSet>;
