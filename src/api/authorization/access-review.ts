// Access reviews, which check what a user is authorized to do.
import { type TypeOf, bool, embedded, list, map, optional, required, string } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ExtraValue } from "../named-types.ts";
import { authorization } from "../packages.ts";

const { message, kind } = authorization;

export const ResourceAttributes = message("ResourceAttributes", "An action on a resource.", {
  namespace: optional(1, string, "Namespace of the action; empty for none or all."),
  verb: optional(2, string, "What is to be done; * for anything."),
  group: optional(3, string, "Group of the resource; * for any."),
  version: optional(4, string, "Version of the resource; * for any."),
  resource: optional(5, string, "The resource; * for any."),
  subresource: optional(6, string, "The subresource, if any."),
  name: optional(7, string, "Name of the object; empty for all."),
});
export type ResourceAttributes = TypeOf<typeof ResourceAttributes>;

export const NonResourceAttributes = message("NonResourceAttributes", "An action on a path beside the API.", {
  path: optional(1, string, "The path."),
  verb: optional(2, string, "The method, in lower case."),
});
export type NonResourceAttributes = TypeOf<typeof NonResourceAttributes>;

export const SubjectAccessReviewSpec = message(
  "SubjectAccessReviewSpec",
  "Who wants to do what; exactly one action is set.",
  {
    resourceAttributes: optional(1, ResourceAttributes, "An action on a resource."),
    nonResourceAttributes: optional(2, NonResourceAttributes, "An action on a path beside the API."),
    user: optional(3, string, "Name of the user."),
    groups: optional(4, list(string), "Groups of the user."),
    extra: optional(5, map(ExtraValue), "What else the authenticator knows of the user."),
    uid: optional(6, string, "Identity of the user."),
  },
);
export type SubjectAccessReviewSpec = TypeOf<typeof SubjectAccessReviewSpec>;

export const SelfSubjectAccessReviewSpec = message(
  "SelfSubjectAccessReviewSpec",
  "What the asker wants to do; exactly one action is set.",
  {
    resourceAttributes: optional(1, ResourceAttributes, "An action on a resource."),
    nonResourceAttributes: optional(2, NonResourceAttributes, "An action on a path beside the API."),
  },
);
export type SelfSubjectAccessReviewSpec = TypeOf<typeof SelfSubjectAccessReviewSpec>;

export const SubjectAccessReviewStatus = message("SubjectAccessReviewStatus", "The verdict.", {
  allowed: required(1, bool, "Whether it is allowed."),
  denied: optional(4, bool, "Whether it is forbidden for good, whatever others say."),
  reason: optional(2, string, "Why."),
  evaluationError: optional(3, string, "What went wrong while deciding; the verdict may still stand."),
});
export type SubjectAccessReviewStatus = TypeOf<typeof SubjectAccessReviewStatus>;

export const SubjectAccessReview = kind("SubjectAccessReview", "Asks whether someone may do something.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, SubjectAccessReviewSpec, "Who wants to do what.", { published: "required" }),
  status: embedded(3, SubjectAccessReviewStatus, "The verdict."),
});
export type SubjectAccessReview = TypeOf<typeof SubjectAccessReview>;

export const LocalSubjectAccessReview = kind(
  "LocalSubjectAccessReview",
  "Asks whether someone may do something in one namespace.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(
      2,
      SubjectAccessReviewSpec,
      "Who wants to do what; the namespace must be that of the request.",
      { published: "required" },
    ),
    status: embedded(3, SubjectAccessReviewStatus, "The verdict."),
  },
);
export type LocalSubjectAccessReview = TypeOf<typeof LocalSubjectAccessReview>;

export const SelfSubjectAccessReview = kind(
  "SelfSubjectAccessReview",
  "Asks whether the asker may do something.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(2, SelfSubjectAccessReviewSpec, "What the asker wants to do.", { published: "required" }),
    status: embedded(3, SubjectAccessReviewStatus, "The verdict."),
  },
);
export type SelfSubjectAccessReview = TypeOf<typeof SelfSubjectAccessReview>;

export const SelfSubjectRulesReviewSpec = message("SelfSubjectRulesReviewSpec", "Where to look.", {
  namespace: optional(1, string, "Namespace whose rules are asked for."),
});
export type SelfSubjectRulesReviewSpec = TypeOf<typeof SelfSubjectRulesReviewSpec>;

export const ResourceRule = message("ResourceRule", "Actions on resources that are allowed.", {
  verbs: required(1, list(string), "What may be done; * for everything."),
  apiGroups: optional(2, list(string), "Groups of the resources; * for all."),
  resources: optional(3, list(string), "The resources; * for all."),
  resourceNames: optional(4, list(string), "Only objects of these names; all when empty."),
});
export type ResourceRule = TypeOf<typeof ResourceRule>;

export const NonResourceRule = message("NonResourceRule", "Actions on paths that are allowed.", {
  verbs: required(1, list(string), "What may be done; * for everything."),
  nonResourceURLs: optional(2, list(string), "The paths; * for all."),
});
export type NonResourceRule = TypeOf<typeof NonResourceRule>;

export const SubjectRulesReviewStatus = message("SubjectRulesReviewStatus", "What is allowed.", {
  resourceRules: required(1, list(ResourceRule), "Allowed actions on resources."),
  nonResourceRules: required(2, list(NonResourceRule), "Allowed actions on paths beside the API."),
  incomplete: required(3, bool, "Whether something may be missing from the lists."),
  evaluationError: optional(4, string, "What went wrong while collecting."),
});
export type SubjectRulesReviewStatus = TypeOf<typeof SubjectRulesReviewStatus>;

export const SelfSubjectRulesReview = kind(
  "SelfSubjectRulesReview",
  "Asks for all that the asker may do in a namespace.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(2, SelfSubjectRulesReviewSpec, "Where to look.", { published: "required" }),
    status: embedded(3, SubjectRulesReviewStatus, "What is allowed."),
  },
);
export type SelfSubjectRulesReview = TypeOf<typeof SelfSubjectRulesReview>;
