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
  "Reference to an object with parameters of a resource class.",
  {
    apiGroup: optional(1, string, "API group of the object; empty for the core group."),
    kind: required(2, string, "Kind of the object."),
    name: required(3, string, "Name of the object."),
    namespace: optional(4, string, "Namespace of the object, if it is namespaced."),
  },
);
export type ResourceClassParametersReference = TypeOf<typeof ResourceClassParametersReference>;

export const ResourceClass = kind("ResourceClass", "A class of resources, allocated by a driver.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  driverName: required(2, string, "Name of the driver that allocates claims of the class."),
  parametersRef: optional(3, ResourceClassParametersReference, "Object with parameters for the driver."),
  suitableNodes: optional(
    4,
    NodeSelector,
    "Nodes that the scheduler considers for pods with claims of the class; all nodes if unset.",
  ),
});
export type ResourceClass = TypeOf<typeof ResourceClass>;

export const ResourceClaimParametersReference = message(
  "ResourceClaimParametersReference",
  "Reference to an object with parameters of a claim, in its namespace.",
  {
    apiGroup: optional(1, string, "API group of the object; empty for the core group."),
    kind: required(2, string, "Kind of the object."),
    name: required(3, string, "Name of the object."),
  },
);
export type ResourceClaimParametersReference = TypeOf<typeof ResourceClaimParametersReference>;

export const DeviceClaimSpec = message("ResourceClaimSpec", "Specification of a resource claim.", {
  resourceClassName: required(1, string, "Name of the resource class."),
  parametersRef: optional(2, ResourceClaimParametersReference, "Object with parameters for the driver."),
  allocationMode: optional(
    3,
    named("AllocationMode", string),
    "When to allocate the claim: Immediate, or WaitForFirstConsumer (default) for the first pod " +
      "using it.",
  ),
});
export type DeviceClaimSpec = TypeOf<typeof DeviceClaimSpec>;

export const ResourceHandle = message("ResourceHandle", "Opaque data of a driver on an allocated resource.", {
  driverName: optional(1, string, "Name of the driver that the data is for."),
  data: optional(2, string, "Opaque data, interpreted only by the driver; at most 16 KiB."),
});
export type ResourceHandle = TypeOf<typeof ResourceHandle>;

export const AllocationResult = message("AllocationResult", "Result of an allocation.", {
  resourceHandles: optional(
    1,
    list(ResourceHandle),
    "Opaque data on the allocation, one entry for each driver.",
    atomicList,
  ),
  availableOnNodes: optional(
    2,
    NodeSelector,
    "Nodes from which the resource can be accessed; all nodes if unset.",
  ),
  shareable: optional(3, bool, "Whether several pods may use the resource at the same time."),
});
export type AllocationResult = TypeOf<typeof AllocationResult>;

export const ResourceClaimConsumerReference = message(
  "ResourceClaimConsumerReference",
  "Reference to a consumer of a claim, usually a pod.",
  {
    apiGroup: optional(1, string, "API group of the consumer; empty for the core group."),
    resource: required(3, string, "Resource of the consumer, such as pods."),
    name: required(4, string, "Name of the consumer."),
    uid: required(5, UID, "UID of the consumer."),
  },
);
export type ResourceClaimConsumerReference = TypeOf<typeof ResourceClaimConsumerReference>;

export const DeviceClaimStatus = message("ResourceClaimStatus", "Current status of a resource claim.", {
  driverName: optional(1, string, "Name of the driver that allocated the claim."),
  allocation: optional(2, AllocationResult, "Result of the allocation; unset until the claim is allocated."),
  reservedFor: optional(
    3,
    list(ResourceClaimConsumerReference),
    "Consumers that may use the claim, which is not deallocated while there are any.",
    mapList("uid"),
  ),
  deallocationRequested: optional(4, bool, "Whether the driver is requested to deallocate the claim."),
});
export type DeviceClaimStatus = TypeOf<typeof DeviceClaimStatus>;

/** The kind ResourceClaim; containers refer to claims by a message of the same name. */
export const DeviceClaim = kind("ResourceClaim", "A claim for a resource that pods need.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, DeviceClaimSpec, "Specification of the resource and its allocation; immutable.", {
    published: "required",
  }),
  status: embedded(3, DeviceClaimStatus, "Current status of the claim."),
});
export type DeviceClaim = TypeOf<typeof DeviceClaim>;

export const ResourceClaimTemplateSpec = message(
  "ResourceClaimTemplateSpec",
  "Template from which resource claims are created.",
  {
    metadata: embedded(1, ObjectMeta, "Labels and annotations of the created claims."),
    spec: embedded(2, DeviceClaimSpec, "Specification of the created claims.", { published: "required" }),
  },
);
export type ResourceClaimTemplateSpec = TypeOf<typeof ResourceClaimTemplateSpec>;

export const ResourceClaimTemplate = kind(
  "ResourceClaimTemplate",
  "A template from which the resource claims of pods are generated.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, ResourceClaimTemplateSpec, "Template of the claims; immutable.", {
      published: "required",
    }),
  },
);
export type ResourceClaimTemplate = TypeOf<typeof ResourceClaimTemplate>;
