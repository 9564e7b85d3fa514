// Replication controllers, the predecessor of replica sets.
import {
  type TypeOf,
  embedded,
  int32,
  int64,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { hiddenDefault, patchMerge } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus } from "../named-types.ts";
import { core } from "../packages.ts";
import { PodTemplateSpec } from "./pod.ts";

const { message, kind, named } = core;

export const ReplicationControllerSpec = message(
  "ReplicationControllerSpec",
  "Specification of a replication controller.",
  {
    replicas: pointer(1, int32, "Desired number of pods; defaults to 1.", hiddenDefault(1)),
    minReadySeconds: optional(
      4,
      int32,
      "Minimum number of seconds for which a new pod must be ready to count as available.",
    ),
    selector: optional(
      2,
      map(string),
      "Label selector of the managed pods; defaults to the labels of the pod template.",
      { atomicMap: true },
    ),
    template: optional(3, PodTemplateSpec, "Template from which missing pods are created."),
  },
);
export type ReplicationControllerSpec = TypeOf<typeof ReplicationControllerSpec>;

export const ReplicationControllerCondition = message(
  "ReplicationControllerCondition",
  "A condition of a replication controller.",
  {
    type: required(1, named("ReplicationControllerConditionType", string), "Type of the condition."),
    status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
    lastTransitionTime: embedded(3, time, "Time at which the status of the condition last changed."),
    reason: optional(4, string, "Machine-readable reason for the last transition, one CamelCase word."),
    message: optional(5, string, "Human-readable details of the last transition."),
  },
);
export type ReplicationControllerCondition = TypeOf<typeof ReplicationControllerCondition>;

export const ReplicationControllerStatus = message(
  "ReplicationControllerStatus",
  "Current status of a replication controller.",
  {
    replicas: required(1, int32, "Most recently observed number of pods."),
    fullyLabeledReplicas: optional(2, int32, "Number of pods that have all labels of the pod template."),
    readyReplicas: optional(4, int32, "Number of ready pods."),
    availableReplicas: optional(
      5,
      int32,
      "Number of pods that have been ready for at least minReadySeconds.",
    ),
    observedGeneration: optional(3, int64, "Generation of the object that this status reflects."),
    conditions: optional(
      6,
      list(ReplicationControllerCondition),
      "Latest observed conditions, one for each type.",
      patchMerge("type"),
    ),
  },
);
export type ReplicationControllerStatus = TypeOf<typeof ReplicationControllerStatus>;

export const ReplicationController = kind(
  "ReplicationController",
  "Ensures that a specified number of identical pods is running; superseded by Deployment and " +
    "ReplicaSet.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(
      2,
      ReplicationControllerSpec,
      "Specification of the desired behavior of the replication controller.",
    ),
    status: embedded(
      3,
      ReplicationControllerStatus,
      "Most recently observed status of the replication controller.",
    ),
  },
);
export type ReplicationController = TypeOf<typeof ReplicationController>;
