// Access reviews, which check what a user is authorized to do.
import { type TypeOf, bool, embedded, list, map, optional, required, string } from "#schema";
import { atomicList, gated } from "../extras.ts";
import { FieldSelectorRequirement, LabelSelectorRequirement } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ExtraValue } from "../named-types.ts";
import { authorization } from "../packages.ts";

const { message, kind } = authorization;

export const FieldSelectorAttributes = message(
  "FieldSelectorAttributes",
  "Fields that limit a request; exactly one of the two is set.",
  {
    rawSelector: optional(1, string, "Field selector as in a query parameter; services need not parse it."),
    requirements: optional(
      2,
      list(FieldSelectorRequirement),
      "Parsed field selector, all of whose requirements must be met.",
      atomicList,
    ),
  },
);
export type FieldSelectorAttributes = TypeOf<typeof FieldSelectorAttributes>;

export const LabelSelectorAttributes = message(
  "LabelSelectorAttributes",
  "Labels that limit a request; exactly one of the two is set.",
  {
    rawSelector: optional(1, string, "Label selector as in a query parameter; services need not parse it."),
    requirements: optional(
      2,
      list(LabelSelectorRequirement),
      "Parsed label selector, all of whose requirements must be met.",
      atomicList,
    ),
  },
);
export type LabelSelectorAttributes = TypeOf<typeof LabelSelectorAttributes>;

export const ResourceAttributes = message("ResourceAttributes", "Attributes of a request for a resource.", {
  namespace: optional(
    1,
    string,
    "Namespace of the request; empty means all namespaces, or none for cluster-scoped resources.",
  ),
  verb: optional(2, string, "API verb of the request, such as get, list or create; * means all verbs."),
  group: optional(3, string, "API group of the resource; * means all groups."),
  version: optional(4, string, "API version of the resource; * means all versions."),
  resource: optional(5, string, "Name of the resource type; * means all resources."),
  subresource: optional(6, string, "Name of the subresource; empty means none."),
  name: optional(7, string, "Name of the requested object; empty means all objects."),
  fieldSelector: optional(
    8,
    FieldSelectorAttributes,
    "Fields that limit the request; they can only limit access.",
    gated("AuthorizeWithSelectors"),
  ),
  labelSelector: optional(
    9,
    LabelSelectorAttributes,
    "Labels that limit the request; they can only limit access.",
    gated("AuthorizeWithSelectors"),
  ),
});
export type ResourceAttributes = TypeOf<typeof ResourceAttributes>;

export const NonResourceAttributes = message(
  "NonResourceAttributes",
  "Attributes of a request for a non-resource URL.",
  {
    path: optional(1, string, "URL path of the request."),
    verb: optional(2, string, "HTTP method of the request, in lower case."),
  },
);
export type NonResourceAttributes = TypeOf<typeof NonResourceAttributes>;

export const SubjectAccessReviewSpec = message(
  "SubjectAccessReviewSpec",
  "User and attributes of a request to authorize; exactly one kind of attributes is set.",
  {
    resourceAttributes: optional(1, ResourceAttributes, "Attributes of a request for a resource."),
    nonResourceAttributes: optional(
      2,
      NonResourceAttributes,
      "Attributes of a request for a non-resource URL.",
    ),
    user: optional(3, string, "Name of the user to check."),
    groups: optional(4, list(string), "Groups of the user to check."),
    extra: optional(5, map(ExtraValue), "Extra attributes of the user, as provided by the authenticator."),
    uid: optional(6, string, "UID of the user to check."),
  },
);
export type SubjectAccessReviewSpec = TypeOf<typeof SubjectAccessReviewSpec>;

export const SelfSubjectAccessReviewSpec = message(
  "SelfSubjectAccessReviewSpec",
  "Attributes of a request to authorize for the current user; exactly one kind is set.",
  {
    resourceAttributes: optional(1, ResourceAttributes, "Attributes of a request for a resource."),
    nonResourceAttributes: optional(
      2,
      NonResourceAttributes,
      "Attributes of a request for a non-resource URL.",
    ),
  },
);
export type SelfSubjectAccessReviewSpec = TypeOf<typeof SelfSubjectAccessReviewSpec>;

export const SubjectAccessReviewStatus = message("SubjectAccessReviewStatus", "Result of an access review.", {
  allowed: required(1, bool, "Whether the action is allowed."),
  denied: optional(
    4,
    bool,
    "Whether the action is denied explicitly, so that no other authorizer may allow it.",
  ),
  reason: optional(2, string, "Reason for the decision."),
  evaluationError: optional(
    3,
    string,
    "Error during the check; a decision may have been reached nevertheless.",
  ),
});
export type SubjectAccessReviewStatus = TypeOf<typeof SubjectAccessReviewStatus>;

export const SubjectAccessReview = kind(
  "SubjectAccessReview",
  "Checks whether a user or group can perform an action.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, SubjectAccessReviewSpec, "User and action to check.", { published: "required" }),
    status: embedded(3, SubjectAccessReviewStatus, "Result of the check, set by the server."),
  },
);
export type SubjectAccessReview = TypeOf<typeof SubjectAccessReview>;

export const LocalSubjectAccessReview = kind(
  "LocalSubjectAccessReview",
  "Checks whether a user or group can perform an action in a namespace.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(
      2,
      SubjectAccessReviewSpec,
      "User and action to check; the namespace must be that of the request.",
      { published: "required" },
    ),
    status: embedded(3, SubjectAccessReviewStatus, "Result of the check, set by the server."),
  },
);
export type LocalSubjectAccessReview = TypeOf<typeof LocalSubjectAccessReview>;

export const SelfSubjectAccessReview = kind(
  "SelfSubjectAccessReview",
  "Checks whether the current user can perform an action.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, SelfSubjectAccessReviewSpec, "Action to check.", { published: "required" }),
    status: embedded(3, SubjectAccessReviewStatus, "Result of the check, set by the server."),
  },
);
export type SelfSubjectAccessReview = TypeOf<typeof SelfSubjectAccessReview>;

export const SelfSubjectRulesReviewSpec = message(
  "SelfSubjectRulesReviewSpec",
  "Specification of a self subject rules review.",
  {
    namespace: optional(1, string, "Namespace to evaluate the rules for."),
  },
);
export type SelfSubjectRulesReviewSpec = TypeOf<typeof SelfSubjectRulesReviewSpec>;

export const ResourceRule = message("ResourceRule", "Actions that the user can perform on resources.", {
  verbs: required(1, list(string), "Allowed verbs; * means all verbs."),
  apiGroups: optional(2, list(string), "API groups of the resources; * means all groups."),
  resources: optional(3, list(string), "Resources that the rule applies to; * means all resources."),
  resourceNames: optional(
    4,
    list(string),
    "Names of the objects that the rule applies to; empty allows all objects.",
  ),
});
export type ResourceRule = TypeOf<typeof ResourceRule>;

export const NonResourceRule = message(
  "NonResourceRule",
  "Actions that the user can perform on non-resource URLs.",
  {
    verbs: required(1, list(string), "Allowed verbs; * means all verbs."),
    nonResourceURLs: optional(
      2,
      list(string),
      "Paths of non-resource URLs; a trailing * matches any suffix.",
    ),
  },
);
export type NonResourceRule = TypeOf<typeof NonResourceRule>;

export const SubjectRulesReviewStatus = message(
  "SubjectRulesReviewStatus",
  "Result of a self subject rules review.",
  {
    resourceRules: required(1, list(ResourceRule), "Allowed actions on resources."),
    nonResourceRules: required(2, list(NonResourceRule), "Allowed actions on non-resource URLs."),
    incomplete: required(
      3,
      bool,
      "Whether the lists may be incomplete, as when an authorizer cannot enumerate its rules.",
    ),
    evaluationError: optional(4, string, "Error during the evaluation of the rules."),
  },
);
export type SubjectRulesReviewStatus = TypeOf<typeof SubjectRulesReviewStatus>;

export const SelfSubjectRulesReview = kind(
  "SelfSubjectRulesReview",
  "Lists the actions that the current user can perform in a namespace.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, SelfSubjectRulesReviewSpec, "Namespace to evaluate.", { published: "required" }),
    status: embedded(3, SubjectRulesReviewStatus, "Allowed actions, set by the server."),
  },
);
export type SelfSubjectRulesReview = TypeOf<typeof SelfSubjectRulesReview>;
