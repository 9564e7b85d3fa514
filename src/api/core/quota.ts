// Resource quotas and limit ranges.
import { type TypeOf, embedded, list, optional, required, string } from "#schema";
import { openEnum } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ResourceList, ResourceQuotaScope } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, kind, named } = core;

export const LimitRangeItem = message("LimitRangeItem", "Resource limits for objects of one type.", {
  type: required(
    1,
    named("LimitType", string),
    "Type of object that the limits apply to: Pod, Container or PersistentVolumeClaim.",
  ),
  max: optional(2, ResourceList, "Maximum amount of each resource."),
  min: optional(3, ResourceList, "Minimum amount of each resource."),
  default: optional(4, ResourceList, "Default limit of each resource for containers that specify none."),
  defaultRequest: optional(
    5,
    ResourceList,
    "Default request of each resource for containers that specify none.",
  ),
  maxLimitRequestRatio: optional(6, ResourceList, "Maximum ratio of limit to request for each resource."),
});
export type LimitRangeItem = TypeOf<typeof LimitRangeItem>;

export const LimitRangeSpec = message("LimitRangeSpec", "Specification of a limit range.", {
  limits: required(1, list(LimitRangeItem), "Limits to enforce, one item for each type of object."),
});
export type LimitRangeSpec = TypeOf<typeof LimitRangeSpec>;

export const LimitRange = kind(
  "LimitRange",
  "Constraints on the resource usage of each object of a type in a namespace.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, LimitRangeSpec, "Limits to enforce."),
  },
);
export type LimitRange = TypeOf<typeof LimitRange>;

export const ScopedResourceSelectorRequirement = message(
  "ScopedResourceSelectorRequirement",
  "A requirement on the scope of objects tracked by a quota.",
  {
    scopeName: required(
      1,
      ResourceQuotaScope,
      "Name of the scope that the requirement applies to.",
      openEnum(
        "BestEffort",
        "CrossNamespacePodAffinity",
        "NotBestEffort",
        "NotTerminating",
        "PriorityClass",
        "Terminating",
      ),
    ),
    operator: required(
      2,
      named("ScopeSelectorOperator", string),
      "Relation between the scope and the values: In, NotIn, Exists or DoesNotExist.",
      openEnum("DoesNotExist", "Exists", "In", "NotIn"),
    ),
    values: optional(3, list(string), "Values to compare with; must be empty for Exists and DoesNotExist."),
  },
);
export type ScopedResourceSelectorRequirement = TypeOf<typeof ScopedResourceSelectorRequirement>;

export const ScopeSelector = message(
  "ScopeSelector",
  "A selector of objects to track by scope; all requirements must be met.",
  {
    matchExpressions: optional(
      1,
      list(ScopedResourceSelectorRequirement),
      "Requirements on scopes, which are ANDed.",
    ),
  },
  { atomic: true },
);
export type ScopeSelector = TypeOf<typeof ScopeSelector>;

export const ResourceQuotaSpec = message("ResourceQuotaSpec", "Specification of a resource quota.", {
  hard: optional(1, ResourceList, "Hard limit for each named resource."),
  scopes: optional(
    2,
    list(ResourceQuotaScope),
    "Scopes that an object must match to be tracked by the quota; all objects if empty.",
  ),
  scopeSelector: optional(
    3,
    ScopeSelector,
    "Further requirements on scopes, which must be met in addition to scopes.",
  ),
});
export type ResourceQuotaSpec = TypeOf<typeof ResourceQuotaSpec>;

export const ResourceQuotaStatus = message(
  "ResourceQuotaStatus",
  "Enforced limits and observed usage of a resource quota.",
  {
    hard: optional(1, ResourceList, "Hard limits that are currently enforced."),
    used: optional(2, ResourceList, "Observed total usage of each resource in the namespace."),
  },
);
export type ResourceQuotaStatus = TypeOf<typeof ResourceQuotaStatus>;

export const ResourceQuota = kind("ResourceQuota", "Limits on the aggregate resource usage of a namespace.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, ResourceQuotaSpec, "Desired limits."),
  status: embedded(3, ResourceQuotaStatus, "Enforced limits and observed usage."),
});
export type ResourceQuota = TypeOf<typeof ResourceQuota>;
