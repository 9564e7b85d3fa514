// Resource requirements.
import { type TypeOf, list, optional, required, string } from "#schema";
import { mapList } from "../extras.ts";
import { ResourceList, ResourceName } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, named } = core;

export const ResourceClaim = message("ResourceClaim", "Reference to a resource claim of the pod.", {
  name: required(1, string, "Name of an entry in spec.resourceClaims of the pod."),
});
export type ResourceClaim = TypeOf<typeof ResourceClaim>;

export const ResourceRequirements = message("ResourceRequirements", "Compute resource requirements.", {
  limits: optional(1, ResourceList, "Maximum amount of each resource that may be used."),
  requests: optional(
    2,
    ResourceList,
    "Minimum amount of each resource that is reserved; defaults to the limits.",
  ),
  claims: optional(
    3,
    list(ResourceClaim),
    "Names of the pod's resource claims that the container uses.",
    mapList("name"),
  ),
});
export type ResourceRequirements = TypeOf<typeof ResourceRequirements>;

export const ContainerResizePolicy = message(
  "ContainerResizePolicy",
  "Resize policy of one container resource.",
  {
    resourceName: required(1, ResourceName, "Name of the resource, such as cpu or memory."),
    restartPolicy: required(
      2,
      named("ResourceResizeRestartPolicy", string),
      "NotRequired resizes the resource without a restart if possible, RestartContainer restarts " +
        "the container.",
    ),
  },
);
export type ContainerResizePolicy = TypeOf<typeof ContainerResizePolicy>;
