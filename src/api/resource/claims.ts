// Resource claims, fulfilled by drivers: what is requested, from which class, and what was allocated.
import { type TypeOf, bool, embedded, list, optional, required, string } from "#schema";
import { NodeSelector } from "../core/affinity.ts";
import { mapList, atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { UID } from "../named-types.ts";
import { resourceV1alpha2 } from "../packages.ts";

const { message, kind, named } = resourceV1alpha2;

export const ResourceClassParametersReference = message(
  "ResourceClassParametersReference",
  "An object with parameters of a class.",
  {
    apiGroup: optional(1, string, "Its API group."),
    kind: required(2, string, "Its kind."),
    name: required(3, string, "Its name."),
    namespace: optional(4, string, "Its namespace, if it is in one."),
  },
);
export type ResourceClassParametersReference = TypeOf<typeof ResourceClassParametersReference>;

export const ResourceClass = kind("ResourceClass", "A driver, and how it hands out resources.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  driverName: required(2, string, "The driver that allocates for claims of this class."),
  parametersRef: optional(3, ResourceClassParametersReference, "An object with parameters for the driver."),
  suitableNodes: optional(4, NodeSelector, "The nodes on which the driver can allocate; all without it."),
});
export type ResourceClass = TypeOf<typeof ResourceClass>;

export const ResourceClaimParametersReference = message(
  "ResourceClaimParametersReference",
  "An object with parameters of a claim, in its namespace.",
  {
    apiGroup: optional(1, string, "Its API group."),
    kind: required(2, string, "Its kind."),
    name: required(3, string, "Its name."),
  },
);
export type ResourceClaimParametersReference = TypeOf<typeof ResourceClaimParametersReference>;

export const DeviceClaimSpec = message("ResourceClaimSpec", "What is claimed.", {
  resourceClassName: required(1, string, "The class of the resource."),
  parametersRef: optional(2, ResourceClaimParametersReference, "An object with parameters for the driver."),
  allocationMode: optional(
    3,
    named("AllocationMode", string),
    "Whether to allocate at once (Immediate) or for the first pod that uses the claim (WaitForFirstConsumer, the default).",
  ),
});
export type DeviceClaimSpec = TypeOf<typeof DeviceClaimSpec>;

export const ResourceHandle = message("ResourceHandle", "What a driver needs to know of its part.", {
  driverName: optional(1, string, "The driver whose part it is."),
  data: optional(2, string, "Opaque to all others; at most 16 KiB."),
});
export type ResourceHandle = TypeOf<typeof ResourceHandle>;

export const AllocationResult = message("AllocationResult", "What was allocated.", {
  resourceHandles: optional(1, list(ResourceHandle), "What drivers need to know, by driver.", atomicList),
  availableOnNodes: optional(2, NodeSelector, "The nodes that can reach it; all without it."),
  shareable: optional(3, bool, "Whether more than one pod may use it at a time."),
});
export type AllocationResult = TypeOf<typeof AllocationResult>;

export const ResourceClaimConsumerReference = message(
  "ResourceClaimConsumerReference",
  "Who may use a claim, usually a pod.",
  {
    apiGroup: optional(1, string, "Its API group."),
    resource: required(3, string, "Its resource, such as pods."),
    name: required(4, string, "Its name."),
    uid: required(5, UID, "Its identity."),
  },
);
export type ResourceClaimConsumerReference = TypeOf<typeof ResourceClaimConsumerReference>;

export const DeviceClaimStatus = message("ResourceClaimStatus", "What became of a claim.", {
  driverName: optional(1, string, "The driver that allocates for it."),
  allocation: optional(2, AllocationResult, "What was allocated; absent until then."),
  reservedFor: optional(
    3,
    list(ResourceClaimConsumerReference),
    "Who may use it; nothing is taken back meanwhile.",
    mapList("uid"),
  ),
  deallocationRequested: optional(4, bool, "Whether the driver is to take back what it allocated."),
});
export type DeviceClaimStatus = TypeOf<typeof DeviceClaimStatus>;

/** The kind ResourceClaim; containers refer to claims by a message of the same name. */
export const DeviceClaim = kind("ResourceClaim", "A resource that pods want to use.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, DeviceClaimSpec, "What is claimed. It cannot change.", { published: "required" }),
  status: embedded(3, DeviceClaimStatus, "What became of it."),
});
export type DeviceClaim = TypeOf<typeof DeviceClaim>;

export const ResourceClaimTemplateSpec = message("ResourceClaimTemplateSpec", "What claims are made of.", {
  metadata: embedded(1, ObjectMeta, "Labels and annotations of the claims."),
  spec: embedded(2, DeviceClaimSpec, "What they claim.", { published: "required" }),
});
export type ResourceClaimTemplateSpec = TypeOf<typeof ResourceClaimTemplateSpec>;

export const ResourceClaimTemplate = kind("ResourceClaimTemplate", "From which claims of pods are made.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, ResourceClaimTemplateSpec, "The claims. It cannot change.", { published: "required" }),
});
export type ResourceClaimTemplate = TypeOf<typeof ResourceClaimTemplate>;
