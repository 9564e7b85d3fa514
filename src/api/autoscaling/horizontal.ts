// Horizontal pod autoscalers.
import {
  type TypeOf,
  embedded,
  int32,
  int64,
  list,
  optional,
  pointer,
  quantity,
  required,
  string,
  time,
} from "#schema";
import { hiddenDefault, keepEmpty, mapList, patchMerge, atomicList } from "../extras.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus, MetricSourceType, ResourceName } from "../named-types.ts";
import { autoscalingV2 } from "../packages.ts";

const { message, kind, named } = autoscalingV2;

export const CrossVersionObjectReference = message(
  "CrossVersionObjectReference",
  "An object in the same namespace.",
  {
    kind: required(1, string, "Kind of the object."),
    name: required(2, string, "Name of the object."),
    apiVersion: optional(3, string, "Group and version of the object."),
  },
);
export type CrossVersionObjectReference = TypeOf<typeof CrossVersionObjectReference>;

export const MetricIdentifier = message("MetricIdentifier", "Which metric.", {
  name: required(1, string, "Name of the metric."),
  selector: optional(2, LabelSelector, "Narrows the metric by its labels."),
});
export type MetricIdentifier = TypeOf<typeof MetricIdentifier>;

export const MetricTarget = message("MetricTarget", "The value to aim at.", {
  type: required(1, named("MetricTargetType", string), "Utilization, Value or AverageValue."),
  value: pointer(2, quantity, "A value as such."),
  averageValue: pointer(3, quantity, "A value for each pod."),
  averageUtilization: pointer(4, int32, "A share of the requests, in percent."),
});
export type MetricTarget = TypeOf<typeof MetricTarget>;

export const ObjectMetricSource = message("ObjectMetricSource", "A metric of one object.", {
  describedObject: embedded(1, CrossVersionObjectReference, "The object.", { published: "required" }),
  target: embedded(2, MetricTarget, "The value to aim at.", { published: "required" }),
  metric: embedded(3, MetricIdentifier, "Which metric.", { published: "required" }),
});
export type ObjectMetricSource = TypeOf<typeof ObjectMetricSource>;

export const PodsMetricSource = message("PodsMetricSource", "A metric of the pods, averaged.", {
  metric: embedded(1, MetricIdentifier, "Which metric.", { published: "required" }),
  target: embedded(2, MetricTarget, "The value to aim at.", { published: "required" }),
});
export type PodsMetricSource = TypeOf<typeof PodsMetricSource>;

export const ResourceMetricSource = message("ResourceMetricSource", "The pods' use of a resource.", {
  name: required(1, ResourceName, "The resource."),
  target: embedded(2, MetricTarget, "The value to aim at.", { published: "required" }),
});
export type ResourceMetricSource = TypeOf<typeof ResourceMetricSource>;

export const ContainerResourceMetricSource = message(
  "ContainerResourceMetricSource",
  "One container's use of a resource.",
  {
    name: required(1, ResourceName, "The resource."),
    target: embedded(2, MetricTarget, "The value to aim at.", { published: "required" }),
    container: required(3, string, "Name of the container."),
  },
);
export type ContainerResourceMetricSource = TypeOf<typeof ContainerResourceMetricSource>;

export const ExternalMetricSource = message("ExternalMetricSource", "A metric from outside the cluster.", {
  metric: embedded(1, MetricIdentifier, "Which metric.", { published: "required" }),
  target: embedded(2, MetricTarget, "The value to aim at.", { published: "required" }),
});
export type ExternalMetricSource = TypeOf<typeof ExternalMetricSource>;

export const MetricSpec = message("MetricSpec", "What to go by; the one that type says is set.", {
  type: required(1, MetricSourceType, "Object, Pods, Resource, ContainerResource or External."),
  object: optional(2, ObjectMetricSource, "A metric of one object."),
  pods: optional(3, PodsMetricSource, "A metric of the pods."),
  resource: optional(4, ResourceMetricSource, "The pods' use of a resource."),
  containerResource: optional(7, ContainerResourceMetricSource, "One container's use of a resource."),
  external: optional(5, ExternalMetricSource, "A metric from outside the cluster."),
});
export type MetricSpec = TypeOf<typeof MetricSpec>;

export const HPAScalingPolicy = message("HPAScalingPolicy", "How fast the number may change.", {
  type: required(1, named("HPAScalingPolicyType", string), "Counts Pods, or Percent of the present number."),
  value: required(2, int32, "How much may change."),
  periodSeconds: required(3, int32, "In how many seconds."),
});
export type HPAScalingPolicy = TypeOf<typeof HPAScalingPolicy>;

export const HPAScalingRules = message("HPAScalingRules", "How the number may change in one direction.", {
  stabilizationWindowSeconds: pointer(3, int32, "Seconds of past wishes that are looked at before acting."),
  selectPolicy: pointer(
    1,
    named("ScalingPolicySelect", string),
    "Which policy counts: Max, Min or Disabled.",
  ),
  policies: optional(2, list(HPAScalingPolicy), "The policies.", { ...atomicList, ...keepEmpty }),
});
export type HPAScalingRules = TypeOf<typeof HPAScalingRules>;

export const HorizontalPodAutoscalerBehavior = message(
  "HorizontalPodAutoscalerBehavior",
  "How the number may change.",
  {
    scaleUp: optional(1, HPAScalingRules, "How it may grow."),
    scaleDown: optional(2, HPAScalingRules, "How it may shrink."),
  },
);
export type HorizontalPodAutoscalerBehavior = TypeOf<typeof HorizontalPodAutoscalerBehavior>;

export const HorizontalPodAutoscalerSpec = message(
  "HorizontalPodAutoscalerSpec",
  "What is scaled, by what, and within what bounds.",
  {
    scaleTargetRef: embedded(1, CrossVersionObjectReference, "The object that is scaled.", {
      published: "required",
    }),
    minReplicas: pointer(2, int32, "The fewest pods.", hiddenDefault(1)),
    maxReplicas: required(3, int32, "The most pods."),
    metrics: optional(4, list(MetricSpec), "What to go by; the largest wish wins.", atomicList),
    behavior: optional(5, HorizontalPodAutoscalerBehavior, "How the number may change."),
  },
);
export type HorizontalPodAutoscalerSpec = TypeOf<typeof HorizontalPodAutoscalerSpec>;

export const MetricValueStatus = message("MetricValueStatus", "A measured value.", {
  value: pointer(1, quantity, "A value as such."),
  averageValue: pointer(2, quantity, "A value for each pod."),
  averageUtilization: pointer(3, int32, "A share of the requests, in percent."),
});
export type MetricValueStatus = TypeOf<typeof MetricValueStatus>;

export const ObjectMetricStatus = message("ObjectMetricStatus", "A measured metric of one object.", {
  metric: embedded(1, MetricIdentifier, "Which metric.", { published: "required" }),
  current: embedded(2, MetricValueStatus, "What was measured.", { published: "required" }),
  describedObject: embedded(3, CrossVersionObjectReference, "The object.", { published: "required" }),
});
export type ObjectMetricStatus = TypeOf<typeof ObjectMetricStatus>;

export const PodsMetricStatus = message("PodsMetricStatus", "A measured metric of the pods.", {
  metric: embedded(1, MetricIdentifier, "Which metric.", { published: "required" }),
  current: embedded(2, MetricValueStatus, "What was measured.", { published: "required" }),
});
export type PodsMetricStatus = TypeOf<typeof PodsMetricStatus>;

export const ResourceMetricStatus = message("ResourceMetricStatus", "The pods' measured use of a resource.", {
  name: required(1, ResourceName, "The resource."),
  current: embedded(2, MetricValueStatus, "What was measured.", { published: "required" }),
});
export type ResourceMetricStatus = TypeOf<typeof ResourceMetricStatus>;

export const ContainerResourceMetricStatus = message(
  "ContainerResourceMetricStatus",
  "One container's measured use of a resource.",
  {
    name: required(1, ResourceName, "The resource."),
    current: embedded(2, MetricValueStatus, "What was measured.", { published: "required" }),
    container: required(3, string, "Name of the container."),
  },
);
export type ContainerResourceMetricStatus = TypeOf<typeof ContainerResourceMetricStatus>;

export const ExternalMetricStatus = message(
  "ExternalMetricStatus",
  "A measured metric from outside the cluster.",
  {
    metric: embedded(1, MetricIdentifier, "Which metric.", { published: "required" }),
    current: embedded(2, MetricValueStatus, "What was measured.", { published: "required" }),
  },
);
export type ExternalMetricStatus = TypeOf<typeof ExternalMetricStatus>;

export const MetricStatus = message("MetricStatus", "What was measured; the one that type says is set.", {
  type: required(1, MetricSourceType, "Object, Pods, Resource, ContainerResource or External."),
  object: optional(2, ObjectMetricStatus, "A metric of one object."),
  pods: optional(3, PodsMetricStatus, "A metric of the pods."),
  resource: optional(4, ResourceMetricStatus, "The pods' use of a resource."),
  containerResource: optional(7, ContainerResourceMetricStatus, "One container's use of a resource."),
  external: optional(5, ExternalMetricStatus, "A metric from outside the cluster."),
});
export type MetricStatus = TypeOf<typeof MetricStatus>;

export const HorizontalPodAutoscalerCondition = message(
  "HorizontalPodAutoscalerCondition",
  "One aspect of an autoscaler's state.",
  {
    type: required(1, named("HorizontalPodAutoscalerConditionType", string), "What the condition is about."),
    status: required(2, ConditionStatus, "True, False or Unknown."),
    lastTransitionTime: embedded(3, time, "When the status last changed."),
    reason: optional(4, string, "One CamelCase word for the last change."),
    message: optional(5, string, "The last change, for people."),
  },
);
export type HorizontalPodAutoscalerCondition = TypeOf<typeof HorizontalPodAutoscalerCondition>;

export const HorizontalPodAutoscalerStatus = message(
  "HorizontalPodAutoscalerStatus",
  "What the autoscaler does.",
  {
    observedGeneration: pointer(1, int64, "The generation this status belongs to."),
    lastScaleTime: pointer(2, time, "When it last changed the number."),
    currentReplicas: optional(3, int32, "Pods there are."),
    desiredReplicas: required(4, int32, "Pods it wants."),
    currentMetrics: required(5, list(MetricStatus), "What was measured.", {
      ...atomicList,
      published: "optional",
    }),
    conditions: optional(
      6,
      list(HorizontalPodAutoscalerCondition),
      "The latest observations, one for each type.",
      { ...patchMerge("type"), ...mapList("type") },
    ),
  },
);
export type HorizontalPodAutoscalerStatus = TypeOf<typeof HorizontalPodAutoscalerStatus>;

export const HorizontalPodAutoscaler = kind(
  "HorizontalPodAutoscaler",
  "Changes the number of pods by their load.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(2, HorizontalPodAutoscalerSpec, "What is scaled, by what, and within what bounds."),
    status: embedded(3, HorizontalPodAutoscalerStatus, "What it does."),
  },
);
export type HorizontalPodAutoscaler = TypeOf<typeof HorizontalPodAutoscaler>;
