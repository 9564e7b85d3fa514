// Pod scheduling contexts, in which the scheduler and resource drivers agree on the node of a pod.
import { type TypeOf, embedded, list, optional, string } from "#schema";
import { mapList, setList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { resourceV1alpha2 } from "../packages.ts";

const { message, kind } = resourceV1alpha2;

export const PodSchedulingContextSpec = message(
  "PodSchedulingContextSpec",
  "What the scheduler would like.",
  {
    selectedNode: optional(1, string, "The node for which drivers are to allocate."),
    potentialNodes: optional(2, list(string), "Nodes on which the pod could run.", setList),
  },
);
export type PodSchedulingContextSpec = TypeOf<typeof PodSchedulingContextSpec>;

export const ResourceClaimSchedulingStatus = message(
  "ResourceClaimSchedulingStatus",
  "What a driver says of one claim of the pod.",
  {
    name: optional(1, string, "The name of the claim in the pod."),
    unsuitableNodes: optional(2, list(string), "Nodes on which it cannot be allocated.", setList),
  },
);
export type ResourceClaimSchedulingStatus = TypeOf<typeof ResourceClaimSchedulingStatus>;

export const PodSchedulingContextStatus = message("PodSchedulingContextStatus", "What the drivers answer.", {
  resourceClaims: optional(1, list(ResourceClaimSchedulingStatus), "By claim of the pod.", mapList("name")),
});
export type PodSchedulingContextStatus = TypeOf<typeof PodSchedulingContextStatus>;

export const PodSchedulingContext = kind("PodSchedulingContext", "Where a pod with claims could run.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, PodSchedulingContextSpec, "What the scheduler would like.", { published: "required" }),
  status: embedded(3, PodSchedulingContextStatus, "What the drivers answer."),
});
export type PodSchedulingContext = TypeOf<typeof PodSchedulingContext>;
