// Roles and role bindings.
import { type TypeOf, embedded, list, optional, required, string } from "#schema";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { rbac } from "../packages.ts";

const { message, kind } = rbac;

export const PolicyRule = message(
  "PolicyRule",
  "Permissions that a role grants; rules are purely additive.",
  {
    verbs: required(1, list(string), "Verbs that the rule allows; * means all verbs."),
    apiGroups: optional(
      2,
      list(string),
      "API groups of the resources; the empty string means the core group, * all groups.",
    ),
    resources: optional(
      3,
      list(string),
      "Resources and subresources that the rule applies to; * means all resources.",
    ),
    resourceNames: optional(
      4,
      list(string),
      "Names of the objects that the rule applies to; empty allows all objects.",
    ),
    nonResourceURLs: optional(
      5,
      list(string),
      "Paths of non-resource URLs; a trailing * matches any suffix.",
    ),
  },
);
export type PolicyRule = TypeOf<typeof PolicyRule>;

export const Role = kind("Role", "A set of permissions within a namespace.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  rules: required(2, list(PolicyRule), "Rules of the role.", { published: "optional" }),
});
export type Role = TypeOf<typeof Role>;

export const AggregationRule = message(
  "AggregationRule",
  "Describes how the rules of a cluster role are aggregated from other cluster roles.",
  {
    clusterRoleSelectors: optional(
      1,
      list(LabelSelector),
      "Selectors of the cluster roles to aggregate; a role needs to match any of them.",
    ),
  },
);
export type AggregationRule = TypeOf<typeof AggregationRule>;

export const ClusterRole = kind(
  "ClusterRole",
  "A set of permissions in the cluster, or for use in any namespace.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    rules: required(2, list(PolicyRule), "Rules of the role.", { published: "optional" }),
    aggregationRule: optional(
      3,
      AggregationRule,
      "If set, the rules are managed by a controller as the union of those of the selected cluster roles.",
    ),
  },
);
export type ClusterRole = TypeOf<typeof ClusterRole>;

export const Subject = message(
  "Subject",
  "A user, group or service account that a binding applies to.",
  {
    kind: required(1, string, "Kind of the subject: User, Group or ServiceAccount."),
    apiGroup: optional(2, string, "API group of the subject's kind; empty for service accounts."),
    name: required(3, string, "Name of the subject."),
    namespace: optional(4, string, "Namespace of the subject, if it is a service account."),
  },
  { atomic: true },
);
export type Subject = TypeOf<typeof Subject>;

export const RoleRef = message(
  "RoleRef",
  "Reference to a role.",
  {
    apiGroup: required(1, string, "API group of the role."),
    kind: required(2, string, "Kind of the role: Role or ClusterRole."),
    name: required(3, string, "Name of the role."),
  },
  { atomic: true },
);
export type RoleRef = TypeOf<typeof RoleRef>;

export const RoleBinding = kind("RoleBinding", "Grants the permissions of a role within a namespace.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  subjects: optional(2, list(Subject), "Subjects that the role is granted to."),
  roleRef: embedded(3, RoleRef, "Role to grant: a role of the namespace or a cluster role; immutable.", {
    published: "required",
  }),
});
export type RoleBinding = TypeOf<typeof RoleBinding>;

export const ClusterRoleBinding = kind(
  "ClusterRoleBinding",
  "Grants the permissions of a cluster role in the whole cluster.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    subjects: optional(2, list(Subject), "Subjects that the role is granted to."),
    roleRef: embedded(3, RoleRef, "Cluster role to grant; immutable.", { published: "required" }),
  },
);
export type ClusterRoleBinding = TypeOf<typeof ClusterRoleBinding>;
