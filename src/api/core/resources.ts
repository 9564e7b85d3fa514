// Amounts of cpu, memory and the rest.
import { type TypeOf, list, map, optional, quantity, required, string } from "#schema";
import { keyed } from "../extras.ts";
import { core } from "../packages.ts";

const { message } = core;

export const ResourceClaim = message("ResourceClaim", "Names a claim of the pod that a container uses.", {
  name: required(1, string, "Name of an entry in the pod's resourceClaims."),
});
export type ResourceClaim = TypeOf<typeof ResourceClaim>;

export const ResourceRequirements = message(
  "ResourceRequirements",
  "How much is needed, and how much is allowed.",
  {
    limits: optional(1, map(quantity), "The most that may be used."),
    requests: optional(2, map(quantity), "What is set aside; the limits when unset."),
    claims: optional(3, list(ResourceClaim), "Claims of the pod that are used.", keyed("name")),
  },
);
export type ResourceRequirements = TypeOf<typeof ResourceRequirements>;

export const ContainerResizePolicy = message(
  "ContainerResizePolicy",
  "What a change of one resource takes.",
  {
    resourceName: required(1, string, "The resource."),
    restartPolicy: required(2, string, "NotRequired changes it while running, RestartContainer restarts."),
  },
);
export type ContainerResizePolicy = TypeOf<typeof ContainerResizePolicy>;
