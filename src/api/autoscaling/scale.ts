// The scale subresource, the same for all kinds with replicas.
import { type TypeOf, embedded, int32, optional, required, string } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { autoscalingV1 } from "../packages.ts";

const { message, kind } = autoscalingV1;

export const ScaleSpec = message("ScaleSpec", "How many replicas are wanted.", {
  replicas: optional(1, int32, "The number."),
});
export type ScaleSpec = TypeOf<typeof ScaleSpec>;

export const ScaleStatus = message("ScaleStatus", "How many replicas there are.", {
  replicas: required(1, int32, "The number."),
  selector: optional(2, string, "Selector of the pods that are counted, as text."),
});
export type ScaleStatus = TypeOf<typeof ScaleStatus>;

export const Scale = kind("Scale", "The number of replicas of something.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, ScaleSpec, "How many are wanted."),
  status: embedded(3, ScaleStatus, "How many there are."),
});
export type Scale = TypeOf<typeof Scale>;
