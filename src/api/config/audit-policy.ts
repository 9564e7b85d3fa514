// The audit policy: which requests are recorded, at which level and at which stages.
import { type TypeOf, bool, list, optional, pointer, required, string } from "#schema";
import { auditPolicy } from "../packages.ts";

const { message, kind } = auditPolicy;

export const AuditGroupResources = message("GroupResources", "Resources of one API group.", {
  group: optional(1, string, "The group; empty for the core group."),
  resources: optional(
    2,
    list(string),
    "Resources such as pods, pods/log, pods/*, */scale or *; all when empty.",
  ),
  resourceNames: optional(3, list(string), "Only objects of these names."),
});

export const AuditPolicyRule = message("PolicyRule", "What is recorded of the requests it matches.", {
  level: required(1, string, "None, Metadata, Request or RequestResponse."),
  users: optional(2, list(string), "Users; all when empty."),
  userGroups: optional(3, list(string), "Groups, one of which the user must be in; all when empty."),
  verbs: optional(4, list(string), "Verbs; all when empty."),
  resources: optional(5, list(AuditGroupResources), "Resources; all when empty."),
  namespaces: optional(6, list(string), "Namespaces; the empty string stands for cluster scope."),
  nonResourceURLs: optional(
    7,
    list(string),
    "Paths that are no resources; a trailing * stands for anything.",
  ),
  omitStages: optional(8, list(string), "Stages of which no event is made."),
  omitManagedFields: pointer(9, bool, "Leaves managed fields out of bodies; overrides the policy."),
});
export type AuditPolicyRule = TypeOf<typeof AuditPolicyRule>;

export const AuditPolicyFile = kind("Policy", "Rules in order; the first that matches decides.", {
  rules: required(2, list(AuditPolicyRule), "The rules."),
  omitStages: optional(3, list(string), "Stages of which no event is made, for every rule."),
  omitManagedFields: optional(4, bool, "Leaves managed fields out of bodies."),
});
export type AuditPolicyFile = TypeOf<typeof AuditPolicyFile>;
