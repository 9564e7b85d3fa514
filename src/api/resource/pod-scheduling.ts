// Pod scheduling contexts, in which the scheduler and resource drivers agree on the node of a pod.
import { type TypeOf, embedded, list, optional, string } from "#schema";
import { mapList, setList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { resourceV1alpha2 } from "../packages.ts";

const { message, kind } = resourceV1alpha2;

export const PodSchedulingContextSpec = message(
  "PodSchedulingContextSpec",
  "Scheduling information from the scheduler on a pod.",
  {
    selectedNode: optional(1, string, "Node for which delayed claims of the pod should be allocated."),
    potentialNodes: optional(2, list(string), "Nodes on which the pod might be able to run.", setList),
  },
);
export type PodSchedulingContextSpec = TypeOf<typeof PodSchedulingContextSpec>;

export const ResourceClaimSchedulingStatus = message(
  "ResourceClaimSchedulingStatus",
  "Scheduling status of one claim of the pod.",
  {
    name: optional(1, string, "Name of the claim in the pod's resourceClaims."),
    unsuitableNodes: optional(2, list(string), "Nodes on which the claim cannot be allocated.", setList),
  },
);
export type ResourceClaimSchedulingStatus = TypeOf<typeof ResourceClaimSchedulingStatus>;

export const PodSchedulingContextStatus = message(
  "PodSchedulingContextStatus",
  "Scheduling information from the resource drivers on a pod.",
  {
    resourceClaims: optional(
      1,
      list(ResourceClaimSchedulingStatus),
      "Scheduling status of each claim, set by its driver.",
      mapList("name"),
    ),
  },
);
export type PodSchedulingContextStatus = TypeOf<typeof PodSchedulingContextStatus>;

export const PodSchedulingContext = kind(
  "PodSchedulingContext",
  "Scheduling state of a pod that uses claims with delayed allocation.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, PodSchedulingContextSpec, "Scheduling information from the scheduler.", {
      published: "required",
    }),
    status: embedded(3, PodSchedulingContextStatus, "Scheduling information from the resource drivers."),
  },
);
export type PodSchedulingContext = TypeOf<typeof PodSchedulingContext>;
