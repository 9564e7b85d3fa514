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
  "Parameters of a rolling update of a daemon set.",
  {
    maxUnavailable: pointer(
      1,
      intOrString,
      "Maximum number or percentage of nodes without an available pod during the update; defaults to 1.",
    ),
    maxSurge: pointer(
      2,
      intOrString,
      "Maximum number or percentage of nodes that may run an old and a new pod at once; defaults to 0.",
    ),
  },
);
export type RollingUpdateDaemonSet = TypeOf<typeof RollingUpdateDaemonSet>;

export const DaemonSetUpdateStrategy = message(
  "DaemonSetUpdateStrategy",
  "Strategy for replacing existing pods with pods of a new template.",
  {
    type: optional(
      1,
      named("DaemonSetUpdateStrategyType", string),
      "Type of the strategy: OnDelete or RollingUpdate (default).",
      {
        ...openEnum("OnDelete", "RollingUpdate"),
        ...hiddenDefault("RollingUpdate"),
      },
    ),
    rollingUpdate: optional(
      2,
      RollingUpdateDaemonSet,
      "Parameters of the rolling update; used only with type RollingUpdate.",
    ),
  },
);
export type DaemonSetUpdateStrategy = TypeOf<typeof DaemonSetUpdateStrategy>;

export const DaemonSetSpec = message("DaemonSetSpec", "Specification of a daemon set.", {
  selector: required(
    1,
    LabelSelector,
    "Label selector of the managed pods; must match the labels of the pod template, immutable.",
    { nullable: true },
  ),
  template: embedded(2, PodTemplateSpec, "Template of the pod that is created on each eligible node.", {
    published: "required",
  }),
  updateStrategy: embedded(
    3,
    DaemonSetUpdateStrategy,
    "Strategy for replacing existing pods with pods of a new template.",
  ),
  minReadySeconds: optional(
    4,
    int32,
    "Minimum number of seconds for which a new pod must be ready to count as available.",
  ),
  revisionHistoryLimit: pointer(
    6,
    int32,
    "Number of old revisions to retain for rollbacks; defaults to 10.",
    hiddenDefault(10),
  ),
});
export type DaemonSetSpec = TypeOf<typeof DaemonSetSpec>;

export const DaemonSetCondition = message("DaemonSetCondition", "A condition of a daemon set.", {
  type: required(1, named("DaemonSetConditionType", string), "Type of the condition."),
  status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
  lastTransitionTime: embedded(3, time, "Time at which the status of the condition last changed."),
  reason: optional(4, string, "Machine-readable reason for the last transition, one CamelCase word."),
  message: optional(5, string, "Human-readable details of the last transition."),
});
export type DaemonSetCondition = TypeOf<typeof DaemonSetCondition>;

export const DaemonSetStatus = message("DaemonSetStatus", "Current status of a daemon set.", {
  currentNumberScheduled: required(
    1,
    int32,
    "Number of nodes that run at least one pod of the daemon set and are supposed to.",
  ),
  numberMisscheduled: required(
    2,
    int32,
    "Number of nodes that run a pod of the daemon set but are not supposed to.",
  ),
  desiredNumberScheduled: required(3, int32, "Number of nodes that should run a pod of the daemon set."),
  numberReady: required(4, int32, "Number of nodes that should run the pod and have a ready one."),
  observedGeneration: optional(5, int64, "Generation of the object that this status reflects."),
  updatedNumberScheduled: optional(6, int32, "Number of nodes that run a pod of the current template."),
  numberAvailable: optional(
    7,
    int32,
    "Number of nodes whose pod has been ready for at least minReadySeconds.",
  ),
  numberUnavailable: optional(8, int32, "Number of nodes that should run the pod but have no available one."),
  collisionCount: pointer(
    9,
    int32,
    "Number of hash collisions of revision names, used to generate a unique name.",
  ),
  conditions: optional(
    10,
    list(DaemonSetCondition),
    "Latest observed conditions, one for each type.",
    patchMerge("type"),
  ),
});
export type DaemonSetStatus = TypeOf<typeof DaemonSetStatus>;

export const DaemonSet = kind("DaemonSet", "Ensures that every eligible node runs a copy of a pod.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, DaemonSetSpec, "Specification of the desired behavior of the daemon set."),
  status: embedded(3, DaemonSetStatus, "Most recently observed status of the daemon set."),
});
export type DaemonSet = TypeOf<typeof DaemonSet>;
