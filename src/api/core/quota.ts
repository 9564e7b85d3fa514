// Resource quotas and limit ranges.
import { type TypeOf, embedded, list, optional, required, string } from "#schema";
import { openEnum } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ResourceList, ResourceQuotaScope } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, kind, named } = core;

export const LimitRangeItem = message("LimitRangeItem", "Limits for one type of object.", {
  type: required(1, named("LimitType", string), "What is limited: Pod, Container or PersistentVolumeClaim."),
  max: optional(2, ResourceList, "The most of each resource."),
  min: optional(3, ResourceList, "The least of each resource."),
  default: optional(4, ResourceList, "Limit given to containers that set none."),
  defaultRequest: optional(5, ResourceList, "Request given to containers that set none."),
  maxLimitRequestRatio: optional(6, ResourceList, "How many times the request the limit may be."),
});
export type LimitRangeItem = TypeOf<typeof LimitRangeItem>;

export const LimitRangeSpec = message("LimitRangeSpec", "The limits.", {
  limits: required(1, list(LimitRangeItem), "One entry for each type."),
});
export type LimitRangeSpec = TypeOf<typeof LimitRangeSpec>;

export const LimitRange = kind("LimitRange", "Limits for single objects in a namespace.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, LimitRangeSpec, "The limits."),
});
export type LimitRange = TypeOf<typeof LimitRange>;

export const ScopedResourceSelectorRequirement = message(
  "ScopedResourceSelectorRequirement",
  "One condition on what is counted.",
  {
    scopeName: required(
      1,
      ResourceQuotaScope,
      "What the condition looks at.",
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
      "In, NotIn, Exists or DoesNotExist.",
      openEnum("DoesNotExist", "Exists", "In", "NotIn"),
    ),
    values: optional(3, list(string), "What to compare with; none for the existence operators."),
  },
);
export type ScopedResourceSelectorRequirement = TypeOf<typeof ScopedResourceSelectorRequirement>;

export const ScopeSelector = message(
  "ScopeSelector",
  "All conditions must hold for an object to be counted.",
  {
    matchExpressions: optional(1, list(ScopedResourceSelectorRequirement), "The conditions."),
  },
  { atomic: true },
);
export type ScopeSelector = TypeOf<typeof ScopeSelector>;

export const ResourceQuotaSpec = message("ResourceQuotaSpec", "How much a namespace may use.", {
  hard: optional(1, ResourceList, "The most of each resource."),
  scopes: optional(2, list(ResourceQuotaScope), "What is counted; everything when empty."),
  scopeSelector: optional(3, ScopeSelector, "Further conditions on what is counted."),
});
export type ResourceQuotaSpec = TypeOf<typeof ResourceQuotaSpec>;

export const ResourceQuotaStatus = message("ResourceQuotaStatus", "How much is used.", {
  hard: optional(1, ResourceList, "The limits in force."),
  used: optional(2, ResourceList, "What is used."),
});
export type ResourceQuotaStatus = TypeOf<typeof ResourceQuotaStatus>;

export const ResourceQuota = kind("ResourceQuota", "Limits for a namespace as a whole.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, ResourceQuotaSpec, "How much may be used."),
  status: embedded(3, ResourceQuotaStatus, "How much is used."),
});
export type ResourceQuota = TypeOf<typeof ResourceQuota>;
