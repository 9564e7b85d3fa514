// Resource requirements.
import { type TypeOf, list, optional, required, string } from "#schema";
import { mapList } from "../extras.ts";
import { ResourceList, ResourceName } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, named } = core;

export const ResourceClaim = message("ResourceClaim", "Names a claim of the pod that a container uses.", {
  name: required(1, string, "Name of an entry in the pod's resourceClaims."),
});
export type ResourceClaim = TypeOf<typeof ResourceClaim>;

export const ResourceRequirements = message(
  "ResourceRequirements",
  "How much is needed, and how much is allowed.",
  {
    limits: optional(1, ResourceList, "The most that may be used."),
    requests: optional(2, ResourceList, "What is set aside; the limits when unset."),
    claims: optional(3, list(ResourceClaim), "Claims of the pod that are used.", mapList("name")),
  },
);
export type ResourceRequirements = TypeOf<typeof ResourceRequirements>;

export const ContainerResizePolicy = message(
  "ContainerResizePolicy",
  "What a change of one resource takes.",
  {
    resourceName: required(1, ResourceName, "The resource."),
    restartPolicy: required(
      2,
      named("ResourceResizeRestartPolicy", string),
      "NotRequired changes it while running, RestartContainer restarts.",
    ),
  },
);
export type ContainerResizePolicy = TypeOf<typeof ContainerResizePolicy>;
