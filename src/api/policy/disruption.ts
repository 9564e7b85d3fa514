// Pod disruption budgets and evictions.
import {
  type TypeOf,
  embedded,
  int32,
  int64,
  intOrString,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { mapList, openEnum, patchMerge } from "../extras.ts";
import { Condition } from "../meta/condition.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { DeleteOptions } from "../meta/options.ts";
import { policy } from "../packages.ts";

const { message, kind, named } = policy;

export const PodDisruptionBudgetSpec = message(
  "PodDisruptionBudgetSpec",
  "Specification of a pod disruption budget.",
  {
    minAvailable: pointer(
      1,
      intOrString,
      "Minimum number or percentage of selected pods that must be available after an eviction.",
    ),
    selector: optional(2, LabelSelector, "Label selector of the pods covered by the budget.", {
      patch: { strategy: "replace" },
    }),
    maxUnavailable: pointer(
      3,
      intOrString,
      "Maximum number or percentage of unavailable pods after an eviction; excludes minAvailable.",
    ),
    unhealthyPodEvictionPolicy: pointer(
      4,
      named("UnhealthyPodEvictionPolicyType", string),
      "When running pods that are not ready may be evicted: IfHealthyBudget (default) or AlwaysAllow.",
      openEnum("AlwaysAllow", "IfHealthyBudget"),
    ),
  },
);
export type PodDisruptionBudgetSpec = TypeOf<typeof PodDisruptionBudgetSpec>;

export const PodDisruptionBudgetStatus = message(
  "PodDisruptionBudgetStatus",
  "Current status of a pod disruption budget.",
  {
    observedGeneration: optional(1, int64, "Generation of the object that this status reflects."),
    disruptedPods: optional(
      2,
      map(time),
      "Pods whose eviction was approved but not yet observed, with the time of the approval.",
    ),
    disruptionsAllowed: required(3, int32, "Number of pod disruptions that are currently allowed."),
    currentHealthy: required(4, int32, "Current number of healthy pods."),
    desiredHealthy: required(5, int32, "Minimum required number of healthy pods."),
    expectedPods: required(6, int32, "Total number of pods covered by the budget."),
    conditions: optional(7, list(Condition), "Latest observed conditions, one for each type.", {
      ...patchMerge("type"),
      ...mapList("type"),
    }),
  },
);
export type PodDisruptionBudgetStatus = TypeOf<typeof PodDisruptionBudgetStatus>;

export const PodDisruptionBudget = kind(
  "PodDisruptionBudget",
  "Limits the number of simultaneous voluntary disruptions of a set of pods.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, PodDisruptionBudgetSpec, "Specification of the desired behavior of the budget."),
    status: embedded(3, PodDisruptionBudgetStatus, "Most recently observed status of the budget."),
  },
);
export type PodDisruptionBudget = TypeOf<typeof PodDisruptionBudget>;

export const Eviction = kind("Eviction", "Evicts a pod, subject to its disruption budgets.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  deleteOptions: optional(2, DeleteOptions, "Options of the deletion of the pod."),
});
export type Eviction = TypeOf<typeof Eviction>;
