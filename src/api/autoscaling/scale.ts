// The scale subresource, the same for all kinds with replicas.
import { type TypeOf, embedded, int32, optional, required, string } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { autoscalingV1 } from "../packages.ts";

const { message, kind } = autoscalingV1;

export const ScaleSpec = message("ScaleSpec", "Specification of a scale subresource.", {
  replicas: optional(1, int32, "Desired number of replicas."),
});
export type ScaleSpec = TypeOf<typeof ScaleSpec>;

export const ScaleStatus = message("ScaleStatus", "Current status of a scale subresource.", {
  replicas: required(1, int32, "Observed number of replicas."),
  selector: optional(2, string, "Label selector of the counted pods, serialized as in a query."),
});
export type ScaleStatus = TypeOf<typeof ScaleStatus>;

export const Scale = kind("Scale", "The desired and current number of replicas of a resource.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, ScaleSpec, "Desired scale."),
  status: embedded(3, ScaleStatus, "Current scale."),
});
export type Scale = TypeOf<typeof Scale>;
