// Roles and role bindings.
import { type TypeOf, embedded, list, optional, required, string } from "#schema";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { rbac } from "../packages.ts";

const { message, kind } = rbac;

export const PolicyRule = message("PolicyRule", "Grants actions; rules only add up.", {
  verbs: required(1, list(string), "What may be done; * for everything."),
  apiGroups: optional(2, list(string), "Groups of the resources; empty text for the core group, * for all."),
  resources: optional(3, list(string), "Resources and subresources; * for all."),
  resourceNames: optional(4, list(string), "Only objects of these names; all when empty."),
  nonResourceURLs: optional(5, list(string), "Paths beside the API; a trailing * stands for anything."),
});
export type PolicyRule = TypeOf<typeof PolicyRule>;

export const Role = kind("Role", "Rules within one namespace.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  rules: required(2, list(PolicyRule), "What is granted.", { published: "optional" }),
});
export type Role = TypeOf<typeof Role>;

export const AggregationRule = message("AggregationRule", "Builds a role from others.", {
  clusterRoleSelectors: optional(1, list(LabelSelector), "Which roles are added; any match will do."),
});
export type AggregationRule = TypeOf<typeof AggregationRule>;

export const ClusterRole = kind("ClusterRole", "Rules for the whole cluster, or for use in any namespace.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  rules: required(2, list(PolicyRule), "What is granted.", { published: "optional" }),
  aggregationRule: optional(3, AggregationRule, "Makes the rules the union of other roles' rules."),
});
export type ClusterRole = TypeOf<typeof ClusterRole>;

export const Subject = message(
  "Subject",
  "Who is granted something.",
  {
    kind: required(1, string, "User, Group or ServiceAccount."),
    apiGroup: optional(2, string, "Group of the kind; empty for service accounts."),
    name: required(3, string, "Name of the subject."),
    namespace: optional(4, string, "Namespace of a service account."),
  },
  { atomic: true },
);
export type Subject = TypeOf<typeof Subject>;

export const RoleRef = message(
  "RoleRef",
  "The role that is granted.",
  {
    apiGroup: required(1, string, "Group of the role."),
    kind: required(2, string, "Role or ClusterRole."),
    name: required(3, string, "Name of the role."),
  },
  { atomic: true },
);
export type RoleRef = TypeOf<typeof RoleRef>;

export const RoleBinding = kind("RoleBinding", "Grants a role within one namespace.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  subjects: optional(2, list(Subject), "Who is granted it."),
  roleRef: embedded(3, RoleRef, "The role; never changes.", { published: "required" }),
});
export type RoleBinding = TypeOf<typeof RoleBinding>;

export const ClusterRoleBinding = kind("ClusterRoleBinding", "Grants a role for the whole cluster.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  subjects: optional(2, list(Subject), "Who is granted it."),
  roleRef: embedded(3, RoleRef, "The role; never changes.", { published: "required" }),
});
export type ClusterRoleBinding = TypeOf<typeof ClusterRoleBinding>;
