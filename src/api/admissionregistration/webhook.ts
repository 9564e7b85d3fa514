// Admission webhooks, which check or change objects before they are stored.
import { type TypeOf, embedded, inline, int32, list, optional, pointer, required, string } from "#schema";
import { hiddenDefault, keepEmpty, mapList, openEnum, patchMerge, atomicList } from "../extras.ts";
import { EmptyKeepingLabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { admissionregistration } from "../packages.ts";
import { webhookClientIn } from "../webhook-client.ts";

const { message, kind, named } = admissionregistration;

export const Rule = message("Rule", "Resources that a rule matches.", {
  apiGroups: optional(1, list(string), "API groups to match; * matches all groups.", atomicList),
  apiVersions: optional(2, list(string), "API versions to match; * matches all versions.", atomicList),
  resources: optional(
    3,
    list(string),
    "Resources and subresources to match, such as pods, pods/log or */scale; * matches all resources.",
    atomicList,
  ),
  scope: pointer(
    4,
    named("ScopeType", string),
    "Scope of the matched resources: Cluster, Namespaced or * (default) for both.",
    hiddenDefault("*"),
  ),
});
export type Rule = TypeOf<typeof Rule>;

export const RuleWithOperations = message(
  "RuleWithOperations",
  "Operations and resources that a rule matches.",
  {
    operations: optional(
      1,
      list(named("OperationType", string)),
      "Operations to match: CREATE, UPDATE, DELETE, CONNECT or * for all.",
      atomicList,
    ),
    rule: inline(2, Rule),
  },
);
export type RuleWithOperations = TypeOf<typeof RuleWithOperations>;

export const { ServiceReference, WebhookClientConfig } = webhookClientIn(admissionregistration);
export type ServiceReference = TypeOf<typeof ServiceReference>;
export type WebhookClientConfig = TypeOf<typeof WebhookClientConfig>;

export const MatchCondition = message(
  "MatchCondition",
  "A condition that a request must fulfill to be sent to a webhook.",
  {
    name: required(1, string, "Name of the condition, unique in its list, used in error messages."),
    expression: required(2, string, "CEL expression that must evaluate to a bool."),
  },
);
export type MatchCondition = TypeOf<typeof MatchCondition>;

/**
 * Fields common to all webhooks; `objectSelector` is the number of that field, which was added later and
 * differs.
 */
const webhookFields = (objectSelector: number) => ({
  name: required(1, string, "Fully qualified name of the webhook, such as policy.example.com."),
  clientConfig: embedded(2, WebhookClientConfig, "How to connect to the webhook.", { published: "required" }),
  rules: optional(
    3,
    list(RuleWithOperations),
    "Operations and resources for which the webhook is called.",
    keepEmpty,
  ),
  failurePolicy: pointer(
    4,
    named("FailurePolicyType", string),
    "How errors in calling the webhook are handled: Ignore or Fail (default).",
    {
      ...openEnum("Fail", "Ignore"),
      ...hiddenDefault("Fail"),
    },
  ),
  matchPolicy: pointer(
    9,
    named("MatchPolicyType", string),
    "Whether rules also match equivalent versions of a resource: Exact, or Equivalent (default).",
    { ...openEnum("Equivalent", "Exact"), ...hiddenDefault("Equivalent") },
  ),
  namespaceSelector: optional(
    5,
    EmptyKeepingLabelSelector,
    "Selector of the namespaces of matched objects; empty (default) matches all.",
    hiddenDefault({}),
  ),
  objectSelector: optional(
    objectSelector,
    EmptyKeepingLabelSelector,
    "Selector of matched objects by their labels, before or after the change; empty (default) " +
      "matches all.",
    hiddenDefault({}),
  ),
  sideEffects: required(
    6,
    named("SideEffectClass", string),
    "Whether the webhook has side effects: None, or NoneOnDryRun.",
    {
      ...openEnum("None", "NoneOnDryRun", "Some", "Unknown"),
      nullable: true,
    },
  ),
  timeoutSeconds: pointer(
    7,
    int32,
    "Seconds after which a call of the webhook times out; defaults to 10.",
    hiddenDefault(10),
  ),
  admissionReviewVersions: required(
    8,
    list(string),
    "AdmissionReview versions that the webhook accepts, in order of preference.",
  ),
});

export const ValidatingWebhook = message(
  "ValidatingWebhook",
  "An admission webhook that admits or rejects requests.",
  {
    ...webhookFields(10),
    matchConditions: optional(
      11,
      list(MatchCondition),
      "Conditions that must all be met for a request to be sent to the webhook.",
      {
        ...patchMerge("name"),
        ...mapList("name"),
        ...keepEmpty,
      },
    ),
  },
);
export type ValidatingWebhook = TypeOf<typeof ValidatingWebhook>;

export const MutatingWebhook = message("MutatingWebhook", "An admission webhook that may change objects.", {
  ...webhookFields(11),
  reinvocationPolicy: pointer(
    10,
    named("ReinvocationPolicyType", string),
    "Whether the webhook is called again if later plugins change the object: Never (default) or " +
      "IfNeeded.",
    { ...openEnum("IfNeeded", "Never"), ...hiddenDefault("Never") },
  ),
  matchConditions: optional(
    12,
    list(MatchCondition),
    "Conditions that must all be met for a request to be sent to the webhook.",
    {
      ...patchMerge("name"),
      ...mapList("name"),
      ...keepEmpty,
    },
  ),
});
export type MutatingWebhook = TypeOf<typeof MutatingWebhook>;

export const ValidatingWebhookConfiguration = kind(
  "ValidatingWebhookConfiguration",
  "Configuration of admission webhooks that admit or reject requests without changing them.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    webhooks: optional(2, list(ValidatingWebhook), "Webhooks and the requests they are called for.", {
      ...patchMerge("name"),
      ...keepEmpty,
    }),
  },
);
export type ValidatingWebhookConfiguration = TypeOf<typeof ValidatingWebhookConfiguration>;

export const MutatingWebhookConfiguration = kind(
  "MutatingWebhookConfiguration",
  "Configuration of admission webhooks that may change objects.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    webhooks: optional(
      2,
      list(MutatingWebhook),
      "Webhooks and the requests they are called for; called in order.",
      {
        ...patchMerge("name"),
        ...keepEmpty,
      },
    ),
  },
);
export type MutatingWebhookConfiguration = TypeOf<typeof MutatingWebhookConfiguration>;
