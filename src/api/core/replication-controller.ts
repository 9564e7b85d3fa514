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

export const ReplicationControllerSpec = message("ReplicationControllerSpec", "How many pods of what kind.", {
  replicas: pointer(1, int32, "How many pods.", hiddenDefault(1)),
  minReadySeconds: optional(4, int32, "Seconds a new pod must stay ready before it counts."),
  selector: optional(
    2,
    map(string),
    "Labels of the pods that belong to it; those of the template when unset.",
    { atomicMap: true },
  ),
  template: optional(3, PodTemplateSpec, "What the pods look like."),
});
export type ReplicationControllerSpec = TypeOf<typeof ReplicationControllerSpec>;

export const ReplicationControllerCondition = message(
  "ReplicationControllerCondition",
  "One aspect of a controller's state.",
  {
    type: required(1, named("ReplicationControllerConditionType", string), "What the condition is about."),
    status: required(2, ConditionStatus, "True, False or Unknown."),
    lastTransitionTime: embedded(3, time, "When the status last changed."),
    reason: optional(4, string, "One CamelCase word for the last change."),
    message: optional(5, string, "The last change, for people."),
  },
);
export type ReplicationControllerCondition = TypeOf<typeof ReplicationControllerCondition>;

export const ReplicationControllerStatus = message(
  "ReplicationControllerStatus",
  "How many pods there are.",
  {
    replicas: required(1, int32, "Pods there are."),
    fullyLabeledReplicas: optional(2, int32, "Pods with all labels of the template."),
    readyReplicas: optional(4, int32, "Pods that are ready."),
    availableReplicas: optional(5, int32, "Pods that have been ready long enough."),
    observedGeneration: optional(3, int64, "The generation this status belongs to."),
    conditions: optional(
      6,
      list(ReplicationControllerCondition),
      "The latest observations, one for each type.",
      patchMerge("type"),
    ),
  },
);
export type ReplicationControllerStatus = TypeOf<typeof ReplicationControllerStatus>;

export const ReplicationController = kind("ReplicationController", "Keeps a number of equal pods running.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, ReplicationControllerSpec, "How many pods of what kind."),
  status: embedded(3, ReplicationControllerStatus, "How many there are."),
});
export type ReplicationController = TypeOf<typeof ReplicationController>;
