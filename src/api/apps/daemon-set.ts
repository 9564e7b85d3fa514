// Daemon sets: one pod on each node.
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
import { hiddenDefault, openEnum, patchMerge } from "../extras.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus } from "../named-types.ts";
import { apps } from "../packages.ts";

const { message, kind, named } = apps;

export const RollingUpdateDaemonSet = message(
  "RollingUpdateDaemonSet",
  "How far a rolling update may stray from one pod on each node.",
  {
    maxUnavailable: pointer(
      1,
      intOrString,
      "On how many nodes the pod may be missing, as a number or a share.",
    ),
    maxSurge: pointer(2, intOrString, "On how many nodes there may be two, as a number or a share."),
  },
);
export type RollingUpdateDaemonSet = TypeOf<typeof RollingUpdateDaemonSet>;

export const DaemonSetUpdateStrategy = message(
  "DaemonSetUpdateStrategy",
  "How old pods give way to new ones.",
  {
    type: optional(1, named("DaemonSetUpdateStrategyType", string), "OnDelete, or RollingUpdate.", {
      ...openEnum("OnDelete", "RollingUpdate"),
      ...hiddenDefault("RollingUpdate"),
    }),
    rollingUpdate: optional(2, RollingUpdateDaemonSet, "Settings of RollingUpdate."),
  },
);
export type DaemonSetUpdateStrategy = TypeOf<typeof DaemonSetUpdateStrategy>;

export const DaemonSetSpec = message("DaemonSetSpec", "What pod each node gets.", {
  selector: required(1, LabelSelector, "Which pods belong to it; never changes.", { nullable: true }),
  template: embedded(2, PodTemplateSpec, "What the pods look like.", { published: "required" }),
  updateStrategy: embedded(3, DaemonSetUpdateStrategy, "How old pods give way to new ones."),
  minReadySeconds: optional(4, int32, "Seconds a new pod must stay ready before it counts."),
  revisionHistoryLimit: pointer(
    6,
    int32,
    "How many old revisions are kept to go back to.",
    hiddenDefault(10),
  ),
});
export type DaemonSetSpec = TypeOf<typeof DaemonSetSpec>;

export const DaemonSetCondition = message("DaemonSetCondition", "One aspect of a daemon set's state.", {
  type: required(1, named("DaemonSetConditionType", string), "What the condition is about."),
  status: required(2, ConditionStatus, "True, False or Unknown."),
  lastTransitionTime: embedded(3, time, "When the status last changed."),
  reason: optional(4, string, "One CamelCase word for the last change."),
  message: optional(5, string, "The last change, for people."),
});
export type DaemonSetCondition = TypeOf<typeof DaemonSetCondition>;

export const DaemonSetStatus = message("DaemonSetStatus", "On how many nodes the pod runs.", {
  currentNumberScheduled: required(1, int32, "Nodes that have the pod and should."),
  numberMisscheduled: required(2, int32, "Nodes that have the pod and should not."),
  desiredNumberScheduled: required(3, int32, "Nodes that should have the pod."),
  numberReady: required(4, int32, "Nodes whose pod is ready."),
  observedGeneration: optional(5, int64, "The generation this status belongs to."),
  updatedNumberScheduled: optional(6, int32, "Nodes whose pod is of the present template."),
  numberAvailable: optional(7, int32, "Nodes whose pod has been ready long enough."),
  numberUnavailable: optional(8, int32, "Nodes whose pod is still missing."),
  collisionCount: pointer(9, int32, "How often a revision's name was taken; goes into the next name."),
  conditions: optional(
    10,
    list(DaemonSetCondition),
    "The latest observations, one for each type.",
    patchMerge("type"),
  ),
});
export type DaemonSetStatus = TypeOf<typeof DaemonSetStatus>;

export const DaemonSet = kind("DaemonSet", "Keeps a pod on each node.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, DaemonSetSpec, "What pod each node gets."),
  status: embedded(3, DaemonSetStatus, "On how many nodes it runs."),
});
export type DaemonSet = TypeOf<typeof DaemonSet>;
