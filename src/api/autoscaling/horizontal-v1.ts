// Horizontal pod autoscalers in v1, which scale by CPU only.
import { type TypeOf, embedded, int32, int64, optional, pointer, required, string, time } from "#schema";
import { hiddenDefault } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { autoscalingV1 } from "../packages.ts";

const { message, kind } = autoscalingV1;

export const CrossVersionObjectReference = message(
  "CrossVersionObjectReference",
  "The object that is scaled.",
  {
    kind: required(1, string, "Kind of the object."),
    name: required(2, string, "Name of the object."),
    apiVersion: optional(3, string, "Group and version of the object."),
  },
  { atomic: true },
);
export type CrossVersionObjectReference = TypeOf<typeof CrossVersionObjectReference>;

export const HorizontalPodAutoscalerSpec = message(
  "HorizontalPodAutoscalerSpec",
  "What is scaled, and within what bounds.",
  {
    scaleTargetRef: embedded(1, CrossVersionObjectReference, "The object that is scaled.", {
      published: "required",
    }),
    minReplicas: pointer(2, int32, "The fewest pods.", hiddenDefault(1)),
    maxReplicas: required(3, int32, "The most pods."),
    targetCPUUtilizationPercentage: pointer(4, int32, "Cpu use to aim at, as a share of the requests."),
  },
);
export type HorizontalPodAutoscalerSpec = TypeOf<typeof HorizontalPodAutoscalerSpec>;

export const HorizontalPodAutoscalerStatus = message(
  "HorizontalPodAutoscalerStatus",
  "What the autoscaler does.",
  {
    observedGeneration: pointer(1, int64, "The generation this status belongs to."),
    lastScaleTime: pointer(2, time, "When it last changed the number."),
    currentReplicas: required(3, int32, "Pods there are."),
    desiredReplicas: required(4, int32, "Pods it wants."),
    currentCPUUtilizationPercentage: pointer(5, int32, "Present cpu use, as a share of the requests."),
  },
);
export type HorizontalPodAutoscalerStatus = TypeOf<typeof HorizontalPodAutoscalerStatus>;

export const HorizontalPodAutoscaler = kind(
  "HorizontalPodAutoscaler",
  "Changes the number of pods by their load.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(2, HorizontalPodAutoscalerSpec, "What is scaled, and within what bounds."),
    status: embedded(3, HorizontalPodAutoscalerStatus, "What it does."),
  },
);
export type HorizontalPodAutoscaler = TypeOf<typeof HorizontalPodAutoscaler>;
