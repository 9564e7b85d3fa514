// Flow schemas and priority levels, which prioritize requests under load. The served versions differ in one
// field and one merge rule; those of releases from 1.28 on configure exempt levels.
import {
  type FieldExtras,
  type Fields,
  type TypeOf,
  bool,
  embedded,
  int32,
  list,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { hiddenDefault, mapList, patchMerge, setList, atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { flowcontrol } from "../packages.ts";

function declare<F extends Fields>(version: string, shares: F, conditions: FieldExtras, withExempt: boolean) {
  const { message, kind, named } = flowcontrol(version);

  const UserSubject = message("UserSubject", "A user that a flow schema applies to.", {
    name: required(1, string, "Name of the user; * matches all users."),
  });

  const GroupSubject = message("GroupSubject", "A group that a flow schema applies to.", {
    name: required(1, string, "Name of the group; * matches all groups."),
  });

  const ServiceAccountSubject = message(
    "ServiceAccountSubject",
    "A service account, or all service accounts of a namespace, that a flow schema applies to.",
    {
      namespace: required(1, string, "Namespace of the service account."),
      name: required(2, string, "Name of the service account; * matches all in the namespace."),
    },
  );

  const Subject = message(
    "Subject",
    "Originator of a request; the member named by kind is set.",
    {
      kind: required(1, named("SubjectKind", string), "Kind of the subject: User, Group or ServiceAccount."),
      user: optional(2, UserSubject, "Match by user name."),
      group: optional(3, GroupSubject, "Match by group."),
      serviceAccount: optional(4, ServiceAccountSubject, "Match by service account."),
    },
    { union: { discriminator: "kind", members: ["group", "serviceAccount", "user"] } },
  );

  const ResourcePolicyRule = message(
    "ResourcePolicyRule",
    "Matches requests for resources by verb, group, resource and namespace, all of which must match.",
    {
      verbs: required(1, list(string), "Verbs to match; * matches all verbs.", setList),
      apiGroups: required(2, list(string), "API groups to match; * matches all groups.", setList),
      resources: required(
        3,
        list(string),
        "Resources and subresources to match; * matches all resources.",
        setList,
      ),
      clusterScope: optional(4, bool, "Whether requests without a namespace are matched as well."),
      namespaces: required(5, list(string), "Namespaces to match; * matches all namespaces.", {
        ...setList,
        published: "optional",
      }),
    },
  );

  const NonResourcePolicyRule = message(
    "NonResourcePolicyRule",
    "Matches requests for non-resource URLs by verb and path.",
    {
      verbs: required(1, list(string), "Verbs to match; * matches all verbs.", setList),
      nonResourceURLs: required(
        6,
        list(string),
        "URL paths to match; a trailing * matches any suffix.",
        setList,
      ),
    },
  );

  const PolicyRulesWithSubjects = message(
    "PolicyRulesWithSubjects",
    "Matches requests by subject and by resource or URL.",
    {
      subjects: required(1, list(Subject), "Subjects, one of which must match the request.", atomicList),
      resourceRules: optional(
        2,
        list(ResourcePolicyRule),
        "Resource rules, one of which must match a request for a resource.",
        atomicList,
      ),
      nonResourceRules: optional(
        3,
        list(NonResourcePolicyRule),
        "Non-resource rules, one of which must match any other request.",
        atomicList,
      ),
    },
  );

  const FlowDistinguisherMethod = message(
    "FlowDistinguisherMethod",
    "How the requests of a flow schema are divided into flows.",
    {
      type: required(
        1,
        named("FlowDistinguisherMethodType", string),
        "Attribute that distinguishes flows: ByUser or ByNamespace.",
      ),
    },
  );

  const PriorityLevelConfigurationReference = message(
    "PriorityLevelConfigurationReference",
    "Reference to a priority level configuration.",
    {
      name: required(1, string, "Name of the priority level configuration."),
    },
  );

  const FlowSchemaSpec = message("FlowSchemaSpec", "Specification of a flow schema.", {
    priorityLevelConfiguration: embedded(
      1,
      PriorityLevelConfigurationReference,
      "Priority level of the matched requests.",
      {
        published: "required",
      },
    ),
    matchingPrecedence: required(
      2,
      int32,
      "Precedence among flow schemas; the matching one with the lowest value applies. Defaults to 1000.",
      {
        ...hiddenDefault(1000),
        published: "optional",
      },
    ),
    distinguisherMethod: optional(
      3,
      FlowDistinguisherMethod,
      "How requests are divided into flows; if unset, all requests are one flow.",
    ),
    rules: optional(
      4,
      list(PolicyRulesWithSubjects),
      "Rules, one of which a request must match.",
      atomicList,
    ),
  });

  const FlowSchemaCondition = message("FlowSchemaCondition", "A condition of a flow schema.", {
    type: optional(1, named("FlowSchemaConditionType", string), "Type of the condition."),
    status: optional(2, named("ConditionStatus", string), "Status of the condition: True, False or Unknown."),
    lastTransitionTime: embedded(3, time, "Time at which the status of the condition last changed."),
    reason: optional(4, string, "Machine-readable reason for the last transition, one CamelCase word."),
    message: optional(5, string, "Human-readable details of the last transition."),
  });

  const FlowSchemaStatus = message("FlowSchemaStatus", "Current status of a flow schema.", {
    conditions: optional(1, list(FlowSchemaCondition), "Latest observed conditions, one for each type.", {
      ...conditions,
      ...mapList("type"),
    }),
  });

  const FlowSchema = kind("FlowSchema", "Assigns a set of requests to flows and to a priority level.", {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, FlowSchemaSpec, "Specification of the desired behavior of the flow schema."),
    status: embedded(3, FlowSchemaStatus, "Current status of the flow schema."),
  });

  const QueuingConfiguration = message(
    "QueuingConfiguration",
    "Configuration of the queues of a priority level.",
    {
      queues: required(1, int32, "Number of queues; defaults to 64.", {
        ...hiddenDefault(64),
        published: "optional",
      }),
      handSize: required(
        2,
        int32,
        "Number of queues dealt to each flow by shuffle sharding; defaults to 8.",
        {
          ...hiddenDefault(8),
          published: "optional",
        },
      ),
      queueLengthLimit: required(3, int32, "Maximum number of waiting requests in a queue; defaults to 50.", {
        ...hiddenDefault(50),
        published: "optional",
      }),
    },
  );

  const LimitResponse = message(
    "LimitResponse",
    "How requests that cannot be executed right away are handled.",
    {
      type: required(1, named("LimitResponseType", string), "Type of the response: Queue or Reject."),
      queuing: optional(2, QueuingConfiguration, "Configuration of the queues; only for type Queue."),
    },
    { union: { discriminator: "type", members: ["queuing"] } },
  );

  const LimitedPriorityLevelConfiguration = message(
    "LimitedPriorityLevelConfiguration",
    "Concurrency limits of a priority level.",
    {
      ...shares,
      limitResponse: embedded(
        2,
        LimitResponse,
        "How requests that cannot be executed right away are handled.",
      ),
      lendablePercent: pointer(
        3,
        int32,
        "Percentage of the level's concurrency limit that other levels may borrow; defaults to 0.",
        hiddenDefault(0),
      ),
      borrowingLimitPercent: pointer(
        4,
        int32,
        "Maximum that the level may borrow, as a percentage of its limit; unlimited if unset.",
      ),
    },
  );

  const ExemptPriorityLevelConfiguration = message(
    "ExemptPriorityLevelConfiguration",
    "Concurrency of an exempt priority level, which affects other levels but does not limit this one.",
    {
      nominalConcurrencyShares: pointer(
        1,
        int32,
        "Share of the server's total concurrency limit that is reserved for the level; defaults to 0.",
        hiddenDefault(0),
      ),
      lendablePercent: pointer(
        2,
        int32,
        "Percentage of the level's concurrency limit that other levels may borrow; defaults to 0.",
        hiddenDefault(0),
      ),
    },
  );

  const exempt = optional(3, ExemptPriorityLevelConfiguration, "Reserved concurrency; only for type Exempt.");

  const PriorityLevelConfigurationSpec = message(
    "PriorityLevelConfigurationSpec",
    "Specification of a priority level.",
    {
      type: required(
        1,
        named("PriorityLevelEnablement", string),
        "Whether requests are exempt from limits (Exempt) or limited (Limited).",
      ),
      limited: optional(2, LimitedPriorityLevelConfiguration, "Concurrency limits; only for type Limited."),
      ...((withExempt ? { exempt } : {}) as { readonly exempt: typeof exempt }),
    },
    { union: { discriminator: "type", members: [...(withExempt ? ["exempt"] : []), "limited"] } },
  );

  const PriorityLevelConfigurationCondition = message(
    "PriorityLevelConfigurationCondition",
    "A condition of a priority level.",
    {
      type: optional(1, named("PriorityLevelConfigurationConditionType", string), "Type of the condition."),
      status: optional(
        2,
        named("ConditionStatus", string),
        "Status of the condition: True, False or Unknown.",
      ),
      lastTransitionTime: embedded(3, time, "Time at which the status of the condition last changed."),
      reason: optional(4, string, "Machine-readable reason for the last transition, one CamelCase word."),
      message: optional(5, string, "Human-readable details of the last transition."),
    },
  );

  const PriorityLevelConfigurationStatus = message(
    "PriorityLevelConfigurationStatus",
    "Current status of a priority level.",
    {
      conditions: optional(
        1,
        list(PriorityLevelConfigurationCondition),
        "Latest observed conditions, one for each type.",
        { ...conditions, ...mapList("type") },
      ),
    },
  );

  const PriorityLevelConfiguration = kind(
    "PriorityLevelConfiguration",
    "Configuration of a priority level, which limits the concurrency of its requests.",
    {
      metadata: embedded(1, ObjectMeta, "Standard object metadata."),
      spec: embedded(
        2,
        PriorityLevelConfigurationSpec,
        "Specification of the desired behavior of the priority level.",
      ),
      status: embedded(3, PriorityLevelConfigurationStatus, "Current status of the priority level."),
    },
  );

  return {
    UserSubject,
    GroupSubject,
    ServiceAccountSubject,
    Subject,
    ResourcePolicyRule,
    NonResourcePolicyRule,
    PolicyRulesWithSubjects,
    FlowDistinguisherMethod,
    PriorityLevelConfigurationReference,
    FlowSchemaSpec,
    FlowSchemaCondition,
    FlowSchemaStatus,
    FlowSchema,
    QueuingConfiguration,
    LimitResponse,
    LimitedPriorityLevelConfiguration,
    PriorityLevelConfigurationSpec,
    PriorityLevelConfigurationCondition,
    PriorityLevelConfigurationStatus,
    PriorityLevelConfiguration,
  };
}

const doc = "Share of the server's total concurrency limit that the level receives; defaults to 30.";

const defaulted = { ...hiddenDefault(30), publishedDefault: 0 };

/** The preferred version. */
export const v1beta3 = declare(
  "v1beta3",
  { nominalConcurrencyShares: optional(1, int32, doc, defaulted) },
  patchMerge("type"),
  false,
);

/** The previous version. */
export const v1beta2 = declare(
  "v1beta2",
  { assuredConcurrencyShares: optional(1, int32, doc, defaulted) },
  {},
  false,
);

/** The versions of releases from 1.28 on. */
export const laterFlow = {
  /** Since 1.29. Shares may be zero. */
  v1: declare(
    "v1",
    { nominalConcurrencyShares: pointer(1, int32, doc, hiddenDefault(30)) },
    patchMerge("type"),
    true,
  ),
  v1beta3: declare(
    "v1beta3",
    { nominalConcurrencyShares: optional(1, int32, doc, defaulted) },
    patchMerge("type"),
    true,
  ),
  /** In releases that serve v1, whose zeros an annotation preserves: conversion applies the default. */
  v1beta3WithZeros: declare(
    "v1beta3",
    { nominalConcurrencyShares: required(1, int32, doc, { published: "optional" }) },
    patchMerge("type"),
    true,
  ),
  v1beta2: declare("v1beta2", { assuredConcurrencyShares: optional(1, int32, doc, defaulted) }, {}, true),
} as const;

export const FlowSchema = v1beta3.FlowSchema;
export type FlowSchema = TypeOf<typeof FlowSchema>;

export const PriorityLevelConfiguration = v1beta3.PriorityLevelConfiguration;
export type PriorityLevelConfiguration = TypeOf<typeof laterFlow.v1.PriorityLevelConfiguration>;
