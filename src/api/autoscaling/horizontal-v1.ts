// Horizontal pod autoscalers in v1, which scale by CPU only.
import { type TypeOf, embedded, int32, int64, optional, pointer, required, string, time } from "#schema";
import { hiddenDefault } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { autoscalingV1 } from "../packages.ts";

const { message, kind } = autoscalingV1;

export const CrossVersionObjectReference = message(
  "CrossVersionObjectReference",
  "Reference to the resource to scale.",
  {
    kind: required(1, string, "Kind of the object."),
    name: required(2, string, "Name of the object."),
    apiVersion: optional(3, string, "API version (group and version) of the object."),
  },
  { atomic: true },
);
export type CrossVersionObjectReference = TypeOf<typeof CrossVersionObjectReference>;

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
    targetCPUUtilizationPercentage: pointer(
      4,
      int32,
      "Target average CPU utilization of all pods, as a percentage of the requested CPU.",
    ),
  },
);
export type HorizontalPodAutoscalerSpec = TypeOf<typeof HorizontalPodAutoscalerSpec>;

export const HorizontalPodAutoscalerStatus = message(
  "HorizontalPodAutoscalerStatus",
  "Current status of a horizontal pod autoscaler.",
  {
    observedGeneration: pointer(1, int64, "Generation of the object that this status reflects."),
    lastScaleTime: pointer(2, time, "Time at which the autoscaler last changed the number of replicas."),
    currentReplicas: required(3, int32, "Current number of replicas."),
    desiredReplicas: required(4, int32, "Number of replicas last calculated by the autoscaler."),
    currentCPUUtilizationPercentage: pointer(
      5,
      int32,
      "Current average CPU utilization of all pods, as a percentage of the requested CPU.",
    ),
  },
);
export type HorizontalPodAutoscalerStatus = TypeOf<typeof HorizontalPodAutoscalerStatus>;

export const HorizontalPodAutoscaler = kind(
  "HorizontalPodAutoscaler",
  "Scales a resource automatically according to the CPU utilization of its pods.",
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
