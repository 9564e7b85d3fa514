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

export const PodDisruptionBudgetSpec = message("PodDisruptionBudgetSpec", "How many pods must stay.", {
  minAvailable: pointer(1, intOrString, "How many must stay, as a number or a share."),
  selector: optional(2, LabelSelector, "Which pods are counted.", { patch: { strategy: "replace" } }),
  maxUnavailable: pointer(
    3,
    intOrString,
    "How many may be missing, as a number or a share; instead of minAvailable.",
  ),
  unhealthyPodEvictionPolicy: pointer(
    4,
    named("UnhealthyPodEvictionPolicyType", string),
    "When unhealthy pods may go: IfHealthyBudget or AlwaysAllow.",
    openEnum("AlwaysAllow", "IfHealthyBudget"),
  ),
});
export type PodDisruptionBudgetSpec = TypeOf<typeof PodDisruptionBudgetSpec>;

export const PodDisruptionBudgetStatus = message(
  "PodDisruptionBudgetStatus",
  "How many pods may go at the moment.",
  {
    observedGeneration: optional(1, int64, "The generation this status belongs to."),
    disruptedPods: optional(2, map(time), "Pods let go that are not gone yet, with the time."),
    disruptionsAllowed: required(3, int32, "How many may go now."),
    currentHealthy: required(4, int32, "Pods that are healthy."),
    desiredHealthy: required(5, int32, "Pods that must be healthy."),
    expectedPods: required(6, int32, "Pods that are counted."),
    conditions: optional(7, list(Condition), "The latest observations, one for each type.", {
      ...patchMerge("type"),
      ...mapList("type"),
    }),
  },
);
export type PodDisruptionBudgetStatus = TypeOf<typeof PodDisruptionBudgetStatus>;

export const PodDisruptionBudget = kind(
  "PodDisruptionBudget",
  "Limits how many pods are taken away at once.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(2, PodDisruptionBudgetSpec, "How many pods must stay."),
    status: embedded(3, PodDisruptionBudgetStatus, "How many may go."),
  },
);
export type PodDisruptionBudget = TypeOf<typeof PodDisruptionBudget>;

export const Eviction = kind("Eviction", "Asks for a pod to be taken away if the budgets let it go.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  deleteOptions: optional(2, DeleteOptions, "Options of the deletion."),
});
export type Eviction = TypeOf<typeof Eviction>;
