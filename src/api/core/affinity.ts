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
import { atomicList, gated, openEnum } from "../extras.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { NodeInclusionPolicy, TaintEffect } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, named } = core;

export const NodeSelectorRequirement = message(
  "NodeSelectorRequirement",
  "A requirement on the value of a node label or node field.",
  {
    key: required(1, string, "Label key or field that the requirement applies to."),
    operator: required(
      2,
      named("NodeSelectorOperator", string),
      "Relation between the key and the values: In, NotIn, Exists, DoesNotExist, Gt or Lt.",
      openEnum("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"),
    ),
    values: optional(
      3,
      list(string),
      "Values to compare with; a single integer for Gt and Lt, empty for Exists and DoesNotExist.",
    ),
  },
);
export type NodeSelectorRequirement = TypeOf<typeof NodeSelectorRequirement>;

export const NodeSelectorTerm = message(
  "NodeSelectorTerm",
  "Requirements that must all be met; a null or empty term matches no nodes.",
  {
    matchExpressions: optional(1, list(NodeSelectorRequirement), "Requirements on node labels."),
    matchFields: optional(2, list(NodeSelectorRequirement), "Requirements on node fields."),
  },
  { atomic: true },
);
export type NodeSelectorTerm = TypeOf<typeof NodeSelectorTerm>;

export const NodeSelector = message(
  "NodeSelector",
  "A union of node selector terms: a node matches if it matches at least one of them.",
  {
    nodeSelectorTerms: required(1, list(NodeSelectorTerm), "List of node selector terms, which are ORed."),
  },
  { atomic: true },
);
export type NodeSelector = TypeOf<typeof NodeSelector>;

export const TopologySelectorLabelRequirement = message(
  "TopologySelectorLabelRequirement",
  "A requirement on the value of a topology label.",
  {
    key: required(1, string, "Label key that the requirement applies to."),
    values: required(2, list(string), "Allowed values, one of which the label must have."),
  },
);
export type TopologySelectorLabelRequirement = TypeOf<typeof TopologySelectorLabelRequirement>;

export const TopologySelectorTerm = message(
  "TopologySelectorTerm",
  "Topologies in which volumes may be provisioned.",
  {
    matchLabelExpressions: optional(
      1,
      list(TopologySelectorLabelRequirement),
      "Requirements on topology labels, which must all be met.",
    ),
  },
  { atomic: true },
);
export type TopologySelectorTerm = TypeOf<typeof TopologySelectorTerm>;

export const PreferredSchedulingTerm = message(
  "PreferredSchedulingTerm",
  "A weighted node preference; an empty term matches all nodes and has no effect.",
  {
    weight: required(1, int32, "Weight of the term, from 1 to 100."),
    preference: embedded(2, NodeSelectorTerm, "Node selector term that nodes should match.", {
      published: "required",
    }),
  },
);
export type PreferredSchedulingTerm = TypeOf<typeof PreferredSchedulingTerm>;

export const NodeAffinity = message("NodeAffinity", "Node affinity scheduling rules of a pod.", {
  requiredDuringSchedulingIgnoredDuringExecution: optional(
    1,
    NodeSelector,
    "Node selector that the node must match when the pod is scheduled; not enforced afterwards.",
  ),
  preferredDuringSchedulingIgnoredDuringExecution: optional(
    2,
    list(PreferredSchedulingTerm),
    "Node preferences; the scheduler adds up the weights of the terms that a node matches.",
  ),
});
export type NodeAffinity = TypeOf<typeof NodeAffinity>;

export const PodAffinityTerm = message(
  "PodAffinityTerm",
  "A set of pods and the topology domain in which they must, or must not, be co-located.",
  {
    labelSelector: optional(1, LabelSelector, "Label selector of the pods; matches no pods if unset."),
    namespaces: optional(
      2,
      list(string),
      "Namespaces of the selected pods, in addition to those matched by namespaceSelector.",
    ),
    topologyKey: required(
      3,
      string,
      "Node label whose value defines the topology domain; nodes with the same value are co-located.",
    ),
    namespaceSelector: optional(
      4,
      LabelSelector,
      "Selector of further namespaces; if both it and namespaces are unset, the pod's namespace is used.",
    ),
    matchLabelKeys: optional(
      5,
      list(string),
      "Label keys whose values in the incoming pod the selected pods must have, in addition to labelSelector.",
      { ...atomicList, ...gated("MatchLabelKeysInPodAffinity") },
    ),
    mismatchLabelKeys: optional(
      6,
      list(string),
      "Label keys whose values in the incoming pod the selected pods must not have, in addition to labelSelector.",
      { ...atomicList, ...gated("MatchLabelKeysInPodAffinity") },
    ),
  },
);
export type PodAffinityTerm = TypeOf<typeof PodAffinityTerm>;

export const WeightedPodAffinityTerm = message("WeightedPodAffinityTerm", "A weighted pod affinity term.", {
  weight: required(1, int32, "Weight of the term, from 1 to 100."),
  podAffinityTerm: embedded(2, PodAffinityTerm, "Pod affinity term that the weight applies to.", {
    published: "required",
  }),
});
export type WeightedPodAffinityTerm = TypeOf<typeof WeightedPodAffinityTerm>;

export const PodAffinity = message(
  "PodAffinity",
  "Pod affinity scheduling rules: pods to be co-located with.",
  {
    requiredDuringSchedulingIgnoredDuringExecution: optional(
      1,
      list(PodAffinityTerm),
      "Terms that must all be satisfied when the pod is scheduled; not enforced afterwards.",
    ),
    preferredDuringSchedulingIgnoredDuringExecution: optional(
      2,
      list(WeightedPodAffinityTerm),
      "Preferred terms; the scheduler adds up the weights of the terms that a node satisfies.",
    ),
  },
);
export type PodAffinity = TypeOf<typeof PodAffinity>;

export const PodAntiAffinity = message(
  "PodAntiAffinity",
  "Pod anti-affinity scheduling rules: pods not to be co-located with.",
  {
    requiredDuringSchedulingIgnoredDuringExecution: optional(
      1,
      list(PodAffinityTerm),
      "Terms that must all be satisfied when the pod is scheduled; not enforced afterwards.",
    ),
    preferredDuringSchedulingIgnoredDuringExecution: optional(
      2,
      list(WeightedPodAffinityTerm),
      "Preferred terms; the scheduler adds up the weights of the terms that a node satisfies.",
    ),
  },
);
export type PodAntiAffinity = TypeOf<typeof PodAntiAffinity>;

export const Affinity = message("Affinity", "Affinity scheduling rules of a pod.", {
  nodeAffinity: optional(1, NodeAffinity, "Rules on the nodes that the pod may or should run on."),
  podAffinity: optional(2, PodAffinity, "Rules on the pods to be co-located with in a topology domain."),
  podAntiAffinity: optional(
    3,
    PodAntiAffinity,
    "Rules on the pods not to be co-located with in a topology domain.",
  ),
});
export type Affinity = TypeOf<typeof Affinity>;

export const Taint = message("Taint", "A mark on a node that repels all pods that do not tolerate it.", {
  key: required(1, string, "Key of the taint."),
  value: optional(2, string, "Value of the taint."),
  effect: required(
    3,
    TaintEffect,
    "Effect on pods that do not tolerate the taint: NoSchedule, PreferNoSchedule or NoExecute.",
    openEnum("NoExecute", "NoSchedule", "PreferNoSchedule"),
  ),
  timeAdded: pointer(4, time, "Time at which the taint was added; only set for NoExecute taints."),
});
export type Taint = TypeOf<typeof Taint>;

export const Toleration = message(
  "Toleration",
  "Allows a pod to be scheduled onto nodes with matching taints.",
  {
    key: optional(
      1,
      string,
      "Taint key that the toleration applies to; if empty, the operator must be Exists, which " +
        "matches all taints.",
    ),
    operator: optional(
      2,
      named("TolerationOperator", string),
      "Relation between key and value: Exists or Equal; defaults to Equal.",
      openEnum("Equal", "Exists"),
    ),
    value: optional(3, string, "Taint value to match; must be empty if the operator is Exists."),
    effect: optional(
      4,
      TaintEffect,
      "Taint effect to match; all effects if empty.",
      openEnum("NoExecute", "NoSchedule", "PreferNoSchedule"),
    ),
    tolerationSeconds: pointer(
      5,
      int64,
      "Seconds for which the pod stays bound to a node with a NoExecute taint; unset means forever.",
    ),
  },
);
export type Toleration = TypeOf<typeof Toleration>;

export const TopologySpreadConstraint = message(
  "TopologySpreadConstraint",
  "Rule on how matching pods are spread over topology domains.",
  {
    maxSkew: required(
      1,
      int32,
      "Maximum allowed difference in the number of matching pods between any two topology domains.",
    ),
    topologyKey: required(
      2,
      string,
      "Node label whose value defines the topology domain; nodes with the same value are in one domain.",
    ),
    whenUnsatisfiable: required(
      3,
      named("UnsatisfiableConstraintAction", string),
      "DoNotSchedule keeps a violating pod pending, ScheduleAnyway only lowers the score of the node.",
      openEnum("DoNotSchedule", "ScheduleAnyway"),
    ),
    labelSelector: optional(4, LabelSelector, "Label selector of the pods to count in each domain."),
    minDomains: pointer(
      5,
      int32,
      "Minimum number of eligible domains; with fewer, the global minimum of matching pods is taken as 0.",
    ),
    nodeAffinityPolicy: pointer(
      6,
      NodeInclusionPolicy,
      "Whether the pod's node affinity and node selector restrict the counted nodes: Honor " +
        "(default) or Ignore.",
      openEnum("Honor", "Ignore"),
    ),
    nodeTaintsPolicy: pointer(
      7,
      NodeInclusionPolicy,
      "Whether nodes with taints that the pod does not tolerate are left out: Honor, or Ignore (default).",
      openEnum("Honor", "Ignore"),
    ),
    matchLabelKeys: optional(
      8,
      list(string),
      "Pod label keys whose values in the incoming pod are added to the label selector.",
      atomicList,
    ),
  },
);
export type TopologySpreadConstraint = TypeOf<typeof TopologySpreadConstraint>;
