// Admission webhooks, which check or change objects before they are stored.
import { type TypeOf, embedded, inline, int32, list, optional, pointer, required, string } from "#schema";
import { hiddenDefault, keepEmpty, mapList, openEnum, patchMerge, atomicList } from "../extras.ts";
import { EmptyKeepingLabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { admissionregistration } from "../packages.ts";
import { webhookClientIn } from "../webhook-client.ts";

const { message, kind, named } = admissionregistration;

export const Rule = message("Rule", "Resources that a webhook is asked about.", {
  apiGroups: optional(1, list(string), "Groups; * for all.", atomicList),
  apiVersions: optional(2, list(string), "Versions; * for all.", atomicList),
  resources: optional(3, list(string), "Resources and subresources; * for all.", atomicList),
  scope: pointer(4, named("ScopeType", string), "Cluster, Namespaced or * for both.", hiddenDefault("*")),
});
export type Rule = TypeOf<typeof Rule>;

export const RuleWithOperations = message("RuleWithOperations", "Requests that a webhook is asked about.", {
  operations: optional(
    1,
    list(named("OperationType", string)),
    "CREATE, UPDATE, DELETE, CONNECT or * for all.",
    atomicList,
  ),
  rule: inline(2, Rule),
});
export type RuleWithOperations = TypeOf<typeof RuleWithOperations>;

export const { ServiceReference, WebhookClientConfig } = webhookClientIn(admissionregistration);
export type ServiceReference = TypeOf<typeof ServiceReference>;
export type WebhookClientConfig = TypeOf<typeof WebhookClientConfig>;

export const MatchCondition = message("MatchCondition", "A condition on the request.", {
  name: required(1, string, "Name of the condition, for messages."),
  expression: required(2, string, "The condition, in CEL."),
});
export type MatchCondition = TypeOf<typeof MatchCondition>;

/**
 * Fields common to all webhooks; `objectSelector` is the number of that field, which was added later and
 * differs.
 */
const webhookFields = (objectSelector: number) => ({
  name: required(1, string, "Full name of the webhook."),
  clientConfig: embedded(2, WebhookClientConfig, "How it is reached.", { published: "required" }),
  rules: optional(3, list(RuleWithOperations), "Requests it is asked about.", keepEmpty),
  failurePolicy: pointer(4, named("FailurePolicyType", string), "What if it fails: Ignore or Fail.", {
    ...openEnum("Fail", "Ignore"),
    ...hiddenDefault("Fail"),
  }),
  matchPolicy: pointer(
    9,
    named("MatchPolicyType", string),
    "Whether rules also match other versions of a resource: Exact or Equivalent.",
    { ...openEnum("Equivalent", "Exact"), ...hiddenDefault("Equivalent") },
  ),
  namespaceSelector: optional(
    5,
    EmptyKeepingLabelSelector,
    "Only objects in these namespaces.",
    hiddenDefault({}),
  ),
  objectSelector: optional(
    objectSelector,
    EmptyKeepingLabelSelector,
    "Only objects with these labels.",
    hiddenDefault({}),
  ),
  sideEffects: required(
    6,
    named("SideEffectClass", string),
    "What it does beside answering: None or NoneOnDryRun.",
    {
      ...openEnum("None", "NoneOnDryRun", "Some", "Unknown"),
      nullable: true,
    },
  ),
  timeoutSeconds: pointer(7, int32, "Seconds to wait for the answer.", hiddenDefault(10)),
  admissionReviewVersions: required(
    8,
    list(string),
    "Versions of the review that it understands, best first.",
  ),
});

export const ValidatingWebhook = message("ValidatingWebhook", "A webhook that may refuse.", {
  ...webhookFields(10),
  matchConditions: optional(11, list(MatchCondition), "Only requests for which all of these hold.", {
    ...patchMerge("name"),
    ...mapList("name"),
    ...keepEmpty,
  }),
});
export type ValidatingWebhook = TypeOf<typeof ValidatingWebhook>;

export const MutatingWebhook = message("MutatingWebhook", "A webhook that may change the object.", {
  ...webhookFields(11),
  reinvocationPolicy: pointer(
    10,
    named("ReinvocationPolicyType", string),
    "Whether it is asked again after others changed the object: Never or IfNeeded.",
    { ...openEnum("IfNeeded", "Never"), ...hiddenDefault("Never") },
  ),
  matchConditions: optional(12, list(MatchCondition), "Only requests for which all of these hold.", {
    ...patchMerge("name"),
    ...mapList("name"),
    ...keepEmpty,
  }),
});
export type MutatingWebhook = TypeOf<typeof MutatingWebhook>;

export const ValidatingWebhookConfiguration = kind(
  "ValidatingWebhookConfiguration",
  "Webhooks that may refuse.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    webhooks: optional(2, list(ValidatingWebhook), "The webhooks.", { ...patchMerge("name"), ...keepEmpty }),
  },
);
export type ValidatingWebhookConfiguration = TypeOf<typeof ValidatingWebhookConfiguration>;

export const MutatingWebhookConfiguration = kind(
  "MutatingWebhookConfiguration",
  "Webhooks that may change objects.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    webhooks: optional(2, list(MutatingWebhook), "The webhooks, asked in order.", {
      ...patchMerge("name"),
      ...keepEmpty,
    }),
  },
);
export type MutatingWebhookConfiguration = TypeOf<typeof MutatingWebhookConfiguration>;
