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
  "Reference to an object in the same namespace.",
  {
    kind: required(1, string, "Kind of the object."),
    name: required(2, string, "Name of the object."),
    apiVersion: optional(3, string, "API version (group and version) of the object."),
  },
);
export type CrossVersionObjectReference = TypeOf<typeof CrossVersionObjectReference>;

export const MetricIdentifier = message("MetricIdentifier", "Name and optional selector of a metric.", {
  name: required(1, string, "Name of the metric."),
  selector: optional(
    2,
    LabelSelector,
    "Label selector that narrows the metric; if unset, the metric is identified by its name alone.",
  ),
});
export type MetricIdentifier = TypeOf<typeof MetricIdentifier>;

export const MetricTarget = message("MetricTarget", "Target value of a metric.", {
  type: required(
    1,
    named("MetricTargetType", string),
    "Type of the target: Utilization, Value or AverageValue.",
  ),
  value: pointer(2, quantity, "Target value of the metric itself."),
  averageValue: pointer(3, quantity, "Target value of the metric averaged over all relevant pods."),
  averageUtilization: pointer(
    4,
    int32,
    "Target utilization averaged over all pods, as a percentage of the requested resource.",
  ),
});
export type MetricTarget = TypeOf<typeof MetricTarget>;

export const ObjectMetricSource = message(
  "ObjectMetricSource",
  "Scales on a metric that describes a single object, such as the hits per second of an ingress.",
  {
    describedObject: embedded(1, CrossVersionObjectReference, "Object that the metric describes.", {
      published: "required",
    }),
    target: embedded(2, MetricTarget, "Target value of the metric.", { published: "required" }),
    metric: embedded(3, MetricIdentifier, "Name and selector of the metric.", { published: "required" }),
  },
);
export type ObjectMetricSource = TypeOf<typeof ObjectMetricSource>;

export const PodsMetricSource = message(
  "PodsMetricSource",
  "Scales on a metric of each pod; the values are averaged before they are compared with the target.",
  {
    metric: embedded(1, MetricIdentifier, "Name and selector of the metric.", { published: "required" }),
    target: embedded(2, MetricTarget, "Target value of the metric.", { published: "required" }),
  },
);
export type PodsMetricSource = TypeOf<typeof PodsMetricSource>;

export const ResourceMetricSource = message(
  "ResourceMetricSource",
  "Scales on a resource of all containers of each pod, as described by its requests and limits.",
  {
    name: required(1, ResourceName, "Name of the resource, such as cpu."),
    target: embedded(2, MetricTarget, "Target value of the metric.", { published: "required" }),
  },
);
export type ResourceMetricSource = TypeOf<typeof ResourceMetricSource>;

export const ContainerResourceMetricSource = message(
  "ContainerResourceMetricSource",
  "Scales on a resource of a single container in each pod.",
  {
    name: required(1, ResourceName, "Name of the resource, such as cpu."),
    target: embedded(2, MetricTarget, "Target value of the metric.", { published: "required" }),
    container: required(3, string, "Name of the container in the pods of the scaling target."),
  },
);
export type ContainerResourceMetricSource = TypeOf<typeof ContainerResourceMetricSource>;

export const ExternalMetricSource = message(
  "ExternalMetricSource",
  "Scales on a global metric that is not associated with any object of the cluster.",
  {
    metric: embedded(1, MetricIdentifier, "Name and selector of the metric.", { published: "required" }),
    target: embedded(2, MetricTarget, "Target value of the metric.", { published: "required" }),
  },
);
export type ExternalMetricSource = TypeOf<typeof ExternalMetricSource>;

export const MetricSpec = message(
  "MetricSpec",
  "A metric to scale on; the member named by type must be set.",
  {
    type: required(
      1,
      MetricSourceType,
      "Type of the metric source: Object, Pods, Resource, ContainerResource or External.",
    ),
    object: optional(2, ObjectMetricSource, "A metric that describes a single object."),
    pods: optional(3, PodsMetricSource, "A metric of each pod, averaged over all pods."),
    resource: optional(4, ResourceMetricSource, "A resource of all containers of each pod."),
    containerResource: optional(
      7,
      ContainerResourceMetricSource,
      "A resource of a single container in each pod.",
    ),
    external: optional(
      5,
      ExternalMetricSource,
      "A metric that is not associated with any object of the cluster.",
    ),
  },
);
export type MetricSpec = TypeOf<typeof MetricSpec>;

export const HPAScalingPolicy = message(
  "HPAScalingPolicy",
  "A limit on the change of the number of replicas in a period.",
  {
    type: required(
      1,
      named("HPAScalingPolicyType", string),
      "Unit of the value: Pods, or Percent of the current number of replicas.",
    ),
    value: required(2, int32, "Maximum change that the policy permits; must be greater than zero."),
    periodSeconds: required(3, int32, "Length of the period in seconds, from 1 to 1800."),
  },
);
export type HPAScalingPolicy = TypeOf<typeof HPAScalingPolicy>;

export const HPAScalingRules = message("HPAScalingRules", "Scaling behavior in one direction.", {
  stabilizationWindowSeconds: pointer(
    3,
    int32,
    "Seconds over which past recommendations are considered; defaults to 0 for scaling up, 300 for down.",
  ),
  selectPolicy: pointer(
    1,
    named("ScalingPolicySelect", string),
    "Policy to apply: Max (default), the one with the highest change, Min the lowest; Disabled " +
      "forbids scaling.",
  ),
  policies: optional(
    2,
    list(HPAScalingPolicy),
    "Policies for scaling in this direction; at least one is required if the rules are set.",
    { ...atomicList, ...keepEmpty },
  ),
});
export type HPAScalingRules = TypeOf<typeof HPAScalingRules>;

export const HorizontalPodAutoscalerBehavior = message(
  "HorizontalPodAutoscalerBehavior",
  "Scaling behavior in each direction.",
  {
    scaleUp: optional(1, HPAScalingRules, "Scaling policy for increasing the number of replicas."),
    scaleDown: optional(2, HPAScalingRules, "Scaling policy for decreasing the number of replicas."),
  },
);
export type HorizontalPodAutoscalerBehavior = TypeOf<typeof HorizontalPodAutoscalerBehavior>;

export const HorizontalPodAutoscalerSpec = message(
  "HorizontalPodAutoscalerSpec",
  "Specification of a horizontal pod autoscaler.",
  {
    scaleTargetRef: embedded(
      1,
      CrossVersionObjectReference,
      "Resource to scale, which must have a scale subresource.",
      {
        published: "required",
      },
    ),
    minReplicas: pointer(2, int32, "Lower limit of the number of replicas; defaults to 1.", hiddenDefault(1)),
    maxReplicas: required(
      3,
      int32,
      "Upper limit of the number of replicas; must not be lower than minReplicas.",
    ),
    metrics: optional(
      4,
      list(MetricSpec),
      "Metrics to scale on; the largest number of replicas calculated for any of them is used.",
      atomicList,
    ),
    behavior: optional(5, HorizontalPodAutoscalerBehavior, "Scaling behavior in each direction."),
  },
);
export type HorizontalPodAutoscalerSpec = TypeOf<typeof HorizontalPodAutoscalerSpec>;

export const MetricValueStatus = message("MetricValueStatus", "Current value of a metric.", {
  value: pointer(1, quantity, "Current value of the metric itself."),
  averageValue: pointer(2, quantity, "Current value of the metric averaged over all relevant pods."),
  averageUtilization: pointer(
    3,
    int32,
    "Current utilization averaged over all pods, as a percentage of the requested resource.",
  ),
});
export type MetricValueStatus = TypeOf<typeof MetricValueStatus>;

export const ObjectMetricStatus = message(
  "ObjectMetricStatus",
  "Current value of a metric that describes a single object.",
  {
    metric: embedded(1, MetricIdentifier, "Name and selector of the metric.", { published: "required" }),
    current: embedded(2, MetricValueStatus, "Current value of the metric.", { published: "required" }),
    describedObject: embedded(3, CrossVersionObjectReference, "Object that the metric describes.", {
      published: "required",
    }),
  },
);
export type ObjectMetricStatus = TypeOf<typeof ObjectMetricStatus>;

export const PodsMetricStatus = message("PodsMetricStatus", "Current value of a metric of each pod.", {
  metric: embedded(1, MetricIdentifier, "Name and selector of the metric.", { published: "required" }),
  current: embedded(2, MetricValueStatus, "Current value of the metric.", { published: "required" }),
});
export type PodsMetricStatus = TypeOf<typeof PodsMetricStatus>;

export const ResourceMetricStatus = message(
  "ResourceMetricStatus",
  "Current value of a resource of all containers of each pod.",
  {
    name: required(1, ResourceName, "Name of the resource, such as cpu."),
    current: embedded(2, MetricValueStatus, "Current value of the metric.", { published: "required" }),
  },
);
export type ResourceMetricStatus = TypeOf<typeof ResourceMetricStatus>;

export const ContainerResourceMetricStatus = message(
  "ContainerResourceMetricStatus",
  "Current value of a resource of a single container in each pod.",
  {
    name: required(1, ResourceName, "Name of the resource, such as cpu."),
    current: embedded(2, MetricValueStatus, "Current value of the metric.", { published: "required" }),
    container: required(3, string, "Name of the container in the pods of the scaling target."),
  },
);
export type ContainerResourceMetricStatus = TypeOf<typeof ContainerResourceMetricStatus>;

export const ExternalMetricStatus = message(
  "ExternalMetricStatus",
  "Current value of a metric that is not associated with any object of the cluster.",
  {
    metric: embedded(1, MetricIdentifier, "Name and selector of the metric.", { published: "required" }),
    current: embedded(2, MetricValueStatus, "Current value of the metric.", { published: "required" }),
  },
);
export type ExternalMetricStatus = TypeOf<typeof ExternalMetricStatus>;

export const MetricStatus = message(
  "MetricStatus",
  "Last observed state of a metric; the member named by type is set.",
  {
    type: required(
      1,
      MetricSourceType,
      "Type of the metric source: Object, Pods, Resource, ContainerResource or External.",
    ),
    object: optional(2, ObjectMetricStatus, "A metric that describes a single object."),
    pods: optional(3, PodsMetricStatus, "A metric of each pod, averaged over all pods."),
    resource: optional(4, ResourceMetricStatus, "A resource of all containers of each pod."),
    containerResource: optional(
      7,
      ContainerResourceMetricStatus,
      "A resource of a single container in each pod.",
    ),
    external: optional(
      5,
      ExternalMetricStatus,
      "A metric that is not associated with any object of the cluster.",
    ),
  },
);
export type MetricStatus = TypeOf<typeof MetricStatus>;

export const HorizontalPodAutoscalerCondition = message(
  "HorizontalPodAutoscalerCondition",
  "A condition of a horizontal pod autoscaler.",
  {
    type: required(1, named("HorizontalPodAutoscalerConditionType", string), "Type of the condition."),
    status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
    lastTransitionTime: embedded(3, time, "Time at which the status of the condition last changed."),
    reason: optional(4, string, "Machine-readable reason for the last transition, one CamelCase word."),
    message: optional(5, string, "Human-readable details of the last transition."),
  },
);
export type HorizontalPodAutoscalerCondition = TypeOf<typeof HorizontalPodAutoscalerCondition>;

export const HorizontalPodAutoscalerStatus = message(
  "HorizontalPodAutoscalerStatus",
  "Current status of a horizontal pod autoscaler.",
  {
    observedGeneration: pointer(1, int64, "Generation of the object that this status reflects."),
    lastScaleTime: pointer(2, time, "Time at which the autoscaler last changed the number of replicas."),
    currentReplicas: optional(3, int32, "Current number of replicas."),
    desiredReplicas: required(4, int32, "Number of replicas last calculated by the autoscaler."),
    currentMetrics: required(5, list(MetricStatus), "Last observed states of the metrics.", {
      ...atomicList,
      published: "optional",
    }),
    conditions: optional(
      6,
      list(HorizontalPodAutoscalerCondition),
      "Latest observed conditions, one for each type.",
      { ...patchMerge("type"), ...mapList("type") },
    ),
  },
);
export type HorizontalPodAutoscalerStatus = TypeOf<typeof HorizontalPodAutoscalerStatus>;

export const HorizontalPodAutoscaler = kind(
  "HorizontalPodAutoscaler",
  "Scales a resource automatically according to specified metrics.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(
      2,
      HorizontalPodAutoscalerSpec,
      "Specification of the desired behavior of the autoscaler.",
    ),
    status: embedded(3, HorizontalPodAutoscalerStatus, "Current status of the autoscaler."),
  },
);
export type HorizontalPodAutoscaler = TypeOf<typeof HorizontalPodAutoscaler>;
