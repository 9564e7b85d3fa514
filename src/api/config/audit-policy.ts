// The audit policy: which requests are recorded, at which level and at which stages.
import { type TypeOf, bool, list, optional, pointer, required, string } from "#schema";
import { auditPolicy } from "../packages.ts";

const { message, kind } = auditPolicy;

export const AuditGroupResources = message("GroupResources", "Resources of an API group.", {
  group: optional(1, string, "Name of the API group; empty for the core group."),
  resources: optional(
    2,
    list(string),
    "Resources to match, such as pods, pods/log, pods/*, */scale or *; all resources if empty.",
  ),
  resourceNames: optional(3, list(string), "Names of the objects to match; all names if empty."),
});

export const AuditPolicyRule = message(
  "PolicyRule",
  "Maps requests to the audit level at which they are recorded.",
  {
    level: required(1, string, "Audit level: None, Metadata, Request or RequestResponse."),
    users: optional(2, list(string), "Users the rule applies to; all users if empty."),
    userGroups: optional(
      3,
      list(string),
      "Groups the rule applies to, one of which the user must be a member of; all users if empty.",
    ),
    verbs: optional(4, list(string), "Verbs the rule applies to; all verbs if empty."),
    resources: optional(
      5,
      list(AuditGroupResources),
      "Resources the rule applies to; all resources if empty.",
    ),
    namespaces: optional(
      6,
      list(string),
      "Namespaces the rule applies to; the empty string matches cluster-scoped requests.",
    ),
    nonResourceURLs: optional(
      7,
      list(string),
      "Non-resource URL paths the rule applies to; a trailing * matches any suffix.",
    ),
    omitStages: optional(
      8,
      list(string),
      "Stages for which no events are generated, in addition to those of the policy.",
    ),
    omitManagedFields: pointer(
      9,
      bool,
      "Whether managed fields are omitted from bodies; overrides the policy's setting.",
    ),
  },
);
export type AuditPolicyRule = TypeOf<typeof AuditPolicyRule>;

export const AuditPolicyFile = kind(
  "Policy",
  "An audit policy: rules in order, of which the first match sets the audit level of a request.",
  {
    rules: required(2, list(AuditPolicyRule), "Rules, evaluated in order."),
    omitStages: optional(3, list(string), "Stages for which no events are generated."),
    omitManagedFields: optional(
      4,
      bool,
      "Whether managed fields are omitted from request and response bodies.",
    ),
  },
);
export type AuditPolicyFile = TypeOf<typeof AuditPolicyFile>;
