// Scheduling constraints: node selectors, affinity, taints, tolerations and topology spread.
import {
  type TypeOf,
  embedded,
  int32,
  int64,
  list,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { openEnum, atomicList } from "../extras.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { NodeInclusionPolicy, TaintEffect } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, named } = core;

export const NodeSelectorRequirement = message(
  "NodeSelectorRequirement",
  "One condition on a label or field of a node.",
  {
    key: required(1, string, "The label or field."),
    operator: required(
      2,
      named("NodeSelectorOperator", string),
      "In, NotIn, Exists, DoesNotExist, Gt or Lt.",
      openEnum("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"),
    ),
    values: optional(
      3,
      list(string),
      "What to compare with; one integer for Gt and Lt, none for the existence operators.",
    ),
  },
);
export type NodeSelectorRequirement = TypeOf<typeof NodeSelectorRequirement>;

export const NodeSelectorTerm = message(
  "NodeSelectorTerm",
  "All conditions must hold; an empty term matches nothing.",
  {
    matchExpressions: optional(1, list(NodeSelectorRequirement), "Conditions on labels."),
    matchFields: optional(2, list(NodeSelectorRequirement), "Conditions on fields."),
  },
  { atomic: true },
);
export type NodeSelectorTerm = TypeOf<typeof NodeSelectorTerm>;

export const NodeSelector = message(
  "NodeSelector",
  "A node matches if any of the terms does.",
  {
    nodeSelectorTerms: required(1, list(NodeSelectorTerm), "The terms."),
  },
  { atomic: true },
);
export type NodeSelector = TypeOf<typeof NodeSelector>;

export const TopologySelectorLabelRequirement = message(
  "TopologySelectorLabelRequirement",
  "One condition on a topology label.",
  {
    key: required(1, string, "The label."),
    values: required(2, list(string), "What it may be."),
  },
);
export type TopologySelectorLabelRequirement = TypeOf<typeof TopologySelectorLabelRequirement>;

export const TopologySelectorTerm = message(
  "TopologySelectorTerm",
  "Places where volumes may be made.",
  {
    matchLabelExpressions: optional(
      1,
      list(TopologySelectorLabelRequirement),
      "Conditions on topology labels.",
    ),
  },
  { atomic: true },
);
export type TopologySelectorTerm = TypeOf<typeof TopologySelectorTerm>;

export const PreferredSchedulingTerm = message("PreferredSchedulingTerm", "A wish, with a weight.", {
  weight: required(1, int32, "From 1 to 100."),
  preference: embedded(2, NodeSelectorTerm, "Nodes that are preferred.", { published: "required" }),
});
export type PreferredSchedulingTerm = TypeOf<typeof PreferredSchedulingTerm>;

export const NodeAffinity = message("NodeAffinity", "On which nodes a pod may or should run.", {
  requiredDuringSchedulingIgnoredDuringExecution: optional(
    1,
    NodeSelector,
    "Must match when the pod is placed.",
  ),
  preferredDuringSchedulingIgnoredDuringExecution: optional(
    2,
    list(PreferredSchedulingTerm),
    "Better if it matches; weights add up.",
  ),
});
export type NodeAffinity = TypeOf<typeof NodeAffinity>;

export const PodAffinityTerm = message(
  "PodAffinityTerm",
  "Pods, and what counts as the same place as theirs.",
  {
    labelSelector: optional(1, LabelSelector, "Which pods are meant."),
    namespaces: optional(2, list(string), "Namespaces to look in, beside those selected."),
    topologyKey: required(3, string, "Nodes with the same value of this label are one place."),
    namespaceSelector: optional(
      4,
      LabelSelector,
      "Namespaces to look in; unset with no names means the pod's own.",
    ),
  },
);
export type PodAffinityTerm = TypeOf<typeof PodAffinityTerm>;

export const WeightedPodAffinityTerm = message("WeightedPodAffinityTerm", "A wish, with a weight.", {
  weight: required(1, int32, "From 1 to 100."),
  podAffinityTerm: embedded(2, PodAffinityTerm, "Pods to be near to, or far from.", {
    published: "required",
  }),
});
export type WeightedPodAffinityTerm = TypeOf<typeof WeightedPodAffinityTerm>;

export const PodAffinity = message("PodAffinity", "Pods to be near to.", {
  requiredDuringSchedulingIgnoredDuringExecution: optional(
    1,
    list(PodAffinityTerm),
    "Must hold when the pod is placed.",
  ),
  preferredDuringSchedulingIgnoredDuringExecution: optional(
    2,
    list(WeightedPodAffinityTerm),
    "Better if it holds; weights add up.",
  ),
});
export type PodAffinity = TypeOf<typeof PodAffinity>;

export const PodAntiAffinity = message("PodAntiAffinity", "Pods to keep away from.", {
  requiredDuringSchedulingIgnoredDuringExecution: optional(
    1,
    list(PodAffinityTerm),
    "Must hold when the pod is placed.",
  ),
  preferredDuringSchedulingIgnoredDuringExecution: optional(
    2,
    list(WeightedPodAffinityTerm),
    "Better if it holds; weights add up.",
  ),
});
export type PodAntiAffinity = TypeOf<typeof PodAntiAffinity>;

export const Affinity = message("Affinity", "All wishes about the place of a pod.", {
  nodeAffinity: optional(1, NodeAffinity, "Which nodes."),
  podAffinity: optional(2, PodAffinity, "Near to which pods."),
  podAntiAffinity: optional(3, PodAntiAffinity, "Away from which pods."),
});
export type Affinity = TypeOf<typeof Affinity>;

export const Taint = message("Taint", "Keeps pods off a node unless they tolerate it.", {
  key: required(1, string, "Name of the taint."),
  value: optional(2, string, "Value of the taint."),
  effect: required(
    3,
    TaintEffect,
    "NoSchedule, PreferNoSchedule or NoExecute.",
    openEnum("NoExecute", "NoSchedule", "PreferNoSchedule"),
  ),
  timeAdded: pointer(4, time, "When it was put on; for NoExecute only."),
});
export type Taint = TypeOf<typeof Taint>;

export const Toleration = message("Toleration", "Lets a pod onto nodes with a matching taint.", {
  key: optional(1, string, "Taint to tolerate; empty with Exists tolerates all."),
  operator: optional(
    2,
    named("TolerationOperator", string),
    "Exists or Equal; Equal when empty.",
    openEnum("Equal", "Exists"),
  ),
  value: optional(3, string, "Value the taint must have, for Equal."),
  effect: optional(
    4,
    TaintEffect,
    "Effect to tolerate; empty for all.",
    openEnum("NoExecute", "NoSchedule", "PreferNoSchedule"),
  ),
  tolerationSeconds: pointer(5, int64, "How long to stay under a NoExecute taint; for ever when unset."),
});
export type Toleration = TypeOf<typeof Toleration>;

export const TopologySpreadConstraint = message(
  "TopologySpreadConstraint",
  "How evenly matching pods are spread over places.",
  {
    maxSkew: required(1, int32, "Largest difference allowed between two places."),
    topologyKey: required(2, string, "Nodes with the same value of this label are one place."),
    whenUnsatisfiable: required(
      3,
      named("UnsatisfiableConstraintAction", string),
      "DoNotSchedule, or ScheduleAnyway to make it a wish.",
      openEnum("DoNotSchedule", "ScheduleAnyway"),
    ),
    labelSelector: optional(4, LabelSelector, "Which pods are counted."),
    minDomains: pointer(5, int32, "Fewest places for which the smallest count is not taken as 0."),
    nodeAffinityPolicy: pointer(
      6,
      NodeInclusionPolicy,
      "Whether nodes that the affinity leaves out count: Honor or Ignore.",
      openEnum("Honor", "Ignore"),
    ),
    nodeTaintsPolicy: pointer(
      7,
      NodeInclusionPolicy,
      "Whether tainted nodes count: Honor or Ignore.",
      openEnum("Honor", "Ignore"),
    ),
    matchLabelKeys: optional(
      8,
      list(string),
      "Labels of the pod itself whose values narrow the selector.",
      atomicList,
    ),
  },
);
export type TopologySpreadConstraint = TypeOf<typeof TopologySpreadConstraint>;
