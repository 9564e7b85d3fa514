// Flow schemas and priority levels, which prioritize requests under load. The two served versions differ in
// one field name and one merge rule.
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

function declare<F extends Fields>(version: string, shares: F, conditions: FieldExtras) {
  const { message, kind, named } = flowcontrol(version);

  const UserSubject = message("UserSubject", "One user.", {
    name: required(1, string, "Name of the user; * for all."),
  });

  const GroupSubject = message("GroupSubject", "One group.", {
    name: required(1, string, "Name of the group; * for all."),
  });

  const ServiceAccountSubject = message(
    "ServiceAccountSubject",
    "One service account, or all of a namespace.",
    {
      namespace: required(1, string, "Namespace of the account."),
      name: required(2, string, "Name of the account; * for all."),
    },
  );

  const Subject = message(
    "Subject",
    "Who asks; the one that kind says is set.",
    {
      kind: required(1, named("SubjectKind", string), "User, Group or ServiceAccount."),
      user: optional(2, UserSubject, "One user."),
      group: optional(3, GroupSubject, "One group."),
      serviceAccount: optional(4, ServiceAccountSubject, "One service account."),
    },
    { union: { discriminator: "kind", members: ["group", "serviceAccount", "user"] } },
  );

  const ResourcePolicyRule = message("ResourcePolicyRule", "Requests for resources; all parts must match.", {
    verbs: required(1, list(string), "What is to be done; * for everything.", setList),
    apiGroups: required(2, list(string), "Groups of the resources; * for all.", setList),
    resources: required(3, list(string), "The resources; * for all.", setList),
    clusterScope: optional(4, bool, "Also matches requests without a namespace."),
    namespaces: required(5, list(string), "Namespaces; * for all.", { ...setList, published: "optional" }),
  });

  const NonResourcePolicyRule = message("NonResourcePolicyRule", "Requests for paths beside the API.", {
    verbs: required(1, list(string), "What is to be done; * for everything.", setList),
    nonResourceURLs: required(6, list(string), "The paths; a trailing * stands for anything.", setList),
  });

  const PolicyRulesWithSubjects = message("PolicyRulesWithSubjects", "Requests of some subjects.", {
    subjects: required(1, list(Subject), "Who asks; any match will do.", atomicList),
    resourceRules: optional(
      2,
      list(ResourcePolicyRule),
      "Requests for resources; any match will do.",
      atomicList,
    ),
    nonResourceRules: optional(
      3,
      list(NonResourcePolicyRule),
      "Requests for paths; any match will do.",
      atomicList,
    ),
  });

  const FlowDistinguisherMethod = message("FlowDistinguisherMethod", "What makes one flow of requests.", {
    type: required(1, named("FlowDistinguisherMethodType", string), "ByUser or ByNamespace."),
  });

  const PriorityLevelConfigurationReference = message(
    "PriorityLevelConfigurationReference",
    "A priority level.",
    {
      name: required(1, string, "Name of the level."),
    },
  );

  const FlowSchemaSpec = message("FlowSchemaSpec", "Which requests go to which level.", {
    priorityLevelConfiguration: embedded(1, PriorityLevelConfigurationReference, "The level.", {
      published: "required",
    }),
    matchingPrecedence: required(2, int32, "Rank among schemas; the lowest that matches counts.", {
      ...hiddenDefault(1000),
      published: "optional",
    }),
    distinguisherMethod: optional(3, FlowDistinguisherMethod, "What makes one flow; all are one when unset."),
    rules: optional(4, list(PolicyRulesWithSubjects), "Requests that match; any will do.", atomicList),
  });

  const FlowSchemaCondition = message("FlowSchemaCondition", "One aspect of a flow schema's state.", {
    type: optional(1, named("FlowSchemaConditionType", string), "What the condition is about."),
    status: optional(2, named("ConditionStatus", string), "True, False or Unknown."),
    lastTransitionTime: embedded(3, time, "When the status last changed."),
    reason: optional(4, string, "One CamelCase word for the last change."),
    message: optional(5, string, "The last change, for people."),
  });

  const FlowSchemaStatus = message("FlowSchemaStatus", "How a flow schema fares.", {
    conditions: optional(1, list(FlowSchemaCondition), "The latest observations, one for each type.", {
      ...conditions,
      ...mapList("type"),
    }),
  });

  const FlowSchema = kind("FlowSchema", "Sorts requests into flows and gives them a priority level.", {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(2, FlowSchemaSpec, "Which requests go to which level."),
    status: embedded(3, FlowSchemaStatus, "How it fares."),
  });

  const QueuingConfiguration = message("QueuingConfiguration", "How requests wait.", {
    queues: required(1, int32, "How many queues.", { ...hiddenDefault(64), published: "optional" }),
    handSize: required(2, int32, "From how many queues a flow takes the shortest.", {
      ...hiddenDefault(8),
      published: "optional",
    }),
    queueLengthLimit: required(3, int32, "Most requests in one queue.", {
      ...hiddenDefault(50),
      published: "optional",
    }),
  });

  const LimitResponse = message(
    "LimitResponse",
    "What becomes of requests that cannot run at once.",
    {
      type: required(1, named("LimitResponseType", string), "Queue or Reject."),
      queuing: optional(2, QueuingConfiguration, "How they wait, for Queue."),
    },
    { union: { discriminator: "type", members: ["queuing"] } },
  );

  const LimitedPriorityLevelConfiguration = message(
    "LimitedPriorityLevelConfiguration",
    "How much a level may run at once.",
    {
      ...shares,
      limitResponse: embedded(2, LimitResponse, "What becomes of the rest."),
      lendablePercent: pointer(3, int32, "How much of its part others may borrow.", hiddenDefault(0)),
      borrowingLimitPercent: pointer(
        4,
        int32,
        "How much it may borrow, as a share of its part; no limit when unset.",
      ),
    },
  );

  const PriorityLevelConfigurationSpec = message(
    "PriorityLevelConfigurationSpec",
    "How requests of a level are treated.",
    {
      type: required(1, named("PriorityLevelEnablement", string), "Exempt from limits, or Limited."),
      limited: optional(2, LimitedPriorityLevelConfiguration, "The limits, for Limited."),
    },
    { union: { discriminator: "type", members: ["limited"] } },
  );

  const PriorityLevelConfigurationCondition = message(
    "PriorityLevelConfigurationCondition",
    "One aspect of a level's state.",
    {
      type: optional(
        1,
        named("PriorityLevelConfigurationConditionType", string),
        "What the condition is about.",
      ),
      status: optional(2, named("ConditionStatus", string), "True, False or Unknown."),
      lastTransitionTime: embedded(3, time, "When the status last changed."),
      reason: optional(4, string, "One CamelCase word for the last change."),
      message: optional(5, string, "The last change, for people."),
    },
  );

  const PriorityLevelConfigurationStatus = message("PriorityLevelConfigurationStatus", "How a level fares.", {
    conditions: optional(
      1,
      list(PriorityLevelConfigurationCondition),
      "The latest observations, one for each type.",
      { ...conditions, ...mapList("type") },
    ),
  });

  const PriorityLevelConfiguration = kind("PriorityLevelConfiguration", "A level of priority.", {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(2, PriorityLevelConfigurationSpec, "How its requests are treated."),
    status: embedded(3, PriorityLevelConfigurationStatus, "How it fares."),
  });

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

const doc = "Its part of what the server may run at once.";

/** The preferred version. */
export const v1beta3 = declare(
  "v1beta3",
  { nominalConcurrencyShares: optional(1, int32, doc, { ...hiddenDefault(30), publishedDefault: 0 }) },
  patchMerge("type"),
);

/** The previous version. */
export const v1beta2 = declare(
  "v1beta2",
  { assuredConcurrencyShares: optional(1, int32, doc, { ...hiddenDefault(30), publishedDefault: 0 }) },
  {},
);

export const FlowSchema = v1beta3.FlowSchema;
export type FlowSchema = TypeOf<typeof FlowSchema>;

export const PriorityLevelConfiguration = v1beta3.PriorityLevelConfiguration;
export type PriorityLevelConfiguration = TypeOf<typeof PriorityLevelConfiguration>;
