// Metrics, behavior and conditions of horizontal pod autoscalers as v1 keeps them, as JSON in annotations.
import { type TypeOf, embedded, int32, list, optional, pointer, quantity, required, string } from "#schema";
import { LabelSelector } from "../meta/label-selector.ts";
import { MetricSourceType, ResourceName } from "../named-types.ts";
import { autoscalingV1 } from "../packages.ts";
import { CrossVersionObjectReference } from "./horizontal-v1.ts";
import { HorizontalPodAutoscalerBehavior, HorizontalPodAutoscalerCondition } from "./horizontal.ts";

const { message } = autoscalingV1;

const metricName = "Name of the metric.";
const selector = "Label selector that narrows the metric.";
const target = "Object that the metric describes.";
const container = "Name of the container in the pods of the scaling target.";
const resource = "Name of the resource, such as cpu.";

export const MetricSpec = message("MetricSpec", "A metric to scale on; the member named by type is set.", {
  type: required(1, MetricSourceType, "Type of the metric source."),
  object: optional(
    2,
    message("ObjectMetricSource", "A metric that describes a single object.", {
      target: embedded(1, CrossVersionObjectReference, target),
      metricName: required(2, string, metricName),
      targetValue: required(3, quantity, "Target value of the metric."),
      selector: optional(4, LabelSelector, selector),
      averageValue: pointer(5, quantity, "Target value averaged over all relevant pods."),
    }),
    "A metric that describes a single object.",
  ),
  pods: optional(
    3,
    message("PodsMetricSource", "A metric of each pod, averaged over all pods.", {
      metricName: required(1, string, metricName),
      targetAverageValue: required(2, quantity, "Target value averaged over all pods."),
      selector: optional(3, LabelSelector, selector),
    }),
    "A metric of each pod, averaged over all pods.",
  ),
  resource: optional(
    4,
    message("ResourceMetricSource", "A resource of all containers of each pod.", {
      name: required(1, ResourceName, resource),
      targetAverageUtilization: pointer(2, int32, "Target utilization as a percentage of the requests."),
      targetAverageValue: pointer(3, quantity, "Target value averaged over all pods."),
    }),
    "A resource of all containers of each pod.",
  ),
  containerResource: optional(
    7,
    message("ContainerResourceMetricSource", "A resource of a single container in each pod.", {
      name: required(1, ResourceName, resource),
      targetAverageUtilization: pointer(2, int32, "Target utilization as a percentage of the requests."),
      targetAverageValue: pointer(3, quantity, "Target value averaged over all pods."),
      container: required(5, string, container),
    }),
    "A resource of a single container in each pod.",
  ),
  external: optional(
    5,
    message("ExternalMetricSource", "A metric that is not associated with any object of the cluster.", {
      metricName: required(1, string, metricName),
      metricSelector: optional(2, LabelSelector, selector),
      targetValue: pointer(3, quantity, "Target value of the metric."),
      targetAverageValue: pointer(4, quantity, "Target value averaged over all pods."),
    }),
    "A metric that is not associated with any object of the cluster.",
  ),
});
export type MetricSpec = TypeOf<typeof MetricSpec>;

export const MetricStatus = message("MetricStatus", "State of a metric; the member named by type is set.", {
  type: required(1, MetricSourceType, "Type of the metric source."),
  object: optional(
    2,
    message("ObjectMetricStatus", "Current value of a metric that describes a single object.", {
      target: embedded(1, CrossVersionObjectReference, target),
      metricName: required(2, string, metricName),
      currentValue: required(3, quantity, "Current value of the metric."),
      selector: optional(4, LabelSelector, selector),
      averageValue: pointer(5, quantity, "Current value averaged over all relevant pods."),
    }),
    "A metric that describes a single object.",
  ),
  pods: optional(
    3,
    message("PodsMetricStatus", "Current value of a metric of each pod.", {
      metricName: required(1, string, metricName),
      currentAverageValue: required(2, quantity, "Current value averaged over all pods."),
      selector: optional(3, LabelSelector, selector),
    }),
    "A metric of each pod, averaged over all pods.",
  ),
  resource: optional(
    4,
    message("ResourceMetricStatus", "Current value of a resource of all containers of each pod.", {
      name: required(1, ResourceName, resource),
      currentAverageUtilization: pointer(2, int32, "Current utilization as a percentage of the requests."),
      currentAverageValue: required(3, quantity, "Current value averaged over all pods."),
    }),
    "A resource of all containers of each pod.",
  ),
  containerResource: optional(
    7,
    message("ContainerResourceMetricStatus", "Current value of a resource of a single container.", {
      name: required(1, ResourceName, resource),
      currentAverageUtilization: pointer(2, int32, "Current utilization as a percentage of the requests."),
      currentAverageValue: required(3, quantity, "Current value averaged over all pods."),
      container: required(4, string, container),
    }),
    "A resource of a single container in each pod.",
  ),
  external: optional(
    5,
    message("ExternalMetricStatus", "Current value of a metric outside the cluster.", {
      metricName: required(1, string, metricName),
      metricSelector: optional(2, LabelSelector, selector),
      currentValue: required(3, quantity, "Current value of the metric."),
      currentAverageValue: pointer(4, quantity, "Current value averaged over all pods."),
    }),
    "A metric that is not associated with any object of the cluster.",
  ),
});
export type MetricStatus = TypeOf<typeof MetricStatus>;

/** The contents of all annotations that carry fields unknown to v1. */
export const AutoscalerAnnotations = message("AutoscalerAnnotations", "Fields unknown to v1.", {
  metrics: optional(1, list(MetricSpec), "Metrics other than CPU utilization."),
  currentMetrics: optional(2, list(MetricStatus), "Last observed states of the metrics."),
  conditions: optional(3, list(HorizontalPodAutoscalerCondition), "Latest observed conditions."),
  behavior: optional(4, HorizontalPodAutoscalerBehavior, "Scaling behavior in each direction."),
});
export type AutoscalerAnnotations = TypeOf<typeof AutoscalerAnnotations>;
