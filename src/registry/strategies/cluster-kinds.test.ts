import assert from "node:assert/strict";
import { test } from "node:test";
import type { Strategy } from "../strategy.ts";
import { flowSchema } from "./flow-schema.ts";
import { limitRange } from "./limit-range.ts";
import { lease } from "./lease.ts";
import { priorityLevelConfiguration } from "./priority-level.ts";
import { priorityClass } from "./priority-class.ts";
import { resourceQuota } from "./resource-quota.ts";
import { runtimeClass } from "./runtime-class.ts";
import { tryCreate, tryUpdate } from "./strategy.fixture.ts";
import { mutatingWebhookConfiguration, validatingWebhookConfiguration } from "./webhook-configuration.ts";
import { hook, hooks, rule } from "./webhook.fixture.ts";

const metadata = { name: "x" };
const flow = { priorityLevelConfiguration: { name: "l" }, matchingPrecedence: 9000 };
const anyone = [{ kind: "User", user: { name: "u" } }];
const level = (limited: object): object => ({
  spec: { type: "Limited", limited: { limitResponse: { type: "Reject" }, ...limited } },
});
const queued = (queuing: object): object => level({ limitResponse: { type: "Queue", queuing } });
const limits = (...items: object[]): object => ({ spec: { limits: items } });

const refused: [name: string, strategy: Strategy, sent: object, causes: string[]][] = [
  ["a valid webhook", validatingWebhookConfiguration, hooks({}), []],
  [
    "sideEffects is required",
    validatingWebhookConfiguration,
    hooks({ sideEffects: undefined }),
    ["Required webhooks[0].sideEffects"],
  ],
  [
    "side effects are refused",
    mutatingWebhookConfiguration,
    hooks({ sideEffects: "Some" }),
    ["NotSupported webhooks[0].sideEffects"],
  ],
  [
    "admissionReviewVersions is required",
    validatingWebhookConfiguration,
    hooks({ admissionReviewVersions: [] }),
    ["Required webhooks[0].admissionReviewVersions"],
  ],
  [
    "a known review version is required",
    validatingWebhookConfiguration,
    hooks({ admissionReviewVersions: ["v9"] }),
    ["Invalid webhooks[0].admissionReviewVersions"],
  ],
  [
    "the name of a webhook has three labels",
    validatingWebhookConfiguration,
    hooks({ name: "short" }),
    ["Invalid webhooks[0].name"],
  ],
  [
    "the URL of a webhook is required",
    validatingWebhookConfiguration,
    hooks({ clientConfig: { url: "://x" } }),
    ["Required webhooks[0].clientConfig.url"],
  ],
  [
    "the URL of a webhook uses https",
    validatingWebhookConfiguration,
    hooks({ clientConfig: { url: "http://x/" } }),
    ["Invalid webhooks[0].clientConfig.url"],
  ],
  [
    "the URL of a webhook has no user, query or fragment",
    validatingWebhookConfiguration,
    hooks({ clientConfig: { url: "https://u@x/?q#f" } }),
    [
      "Invalid webhooks[0].clientConfig.url",
      "Invalid webhooks[0].clientConfig.url",
      "Invalid webhooks[0].clientConfig.url",
    ],
  ],
  [
    "a webhook has either a URL or a service",
    validatingWebhookConfiguration,
    hooks({ clientConfig: { url: "https://x/", service: { namespace: "n", name: "s" } } }),
    ["Required webhooks[0].clientConfig"],
  ],
  [
    "a webhook needs a URL or a service",
    validatingWebhookConfiguration,
    hooks({ clientConfig: {} }),
    ["Required webhooks[0].clientConfig"],
  ],
  [
    "errors of service name and namespace are swapped",
    validatingWebhookConfiguration,
    hooks({ clientConfig: { service: { namespace: "", name: "s" } } }),
    ["Required webhooks[0].clientConfig.service.name"],
  ],
  [
    "the timeout of a webhook is at most 30 seconds",
    validatingWebhookConfiguration,
    hooks({ timeoutSeconds: 31 }),
    ["Invalid webhooks[0].timeoutSeconds"],
  ],
  [
    "unknown policies are refused",
    mutatingWebhookConfiguration,
    hooks({ failurePolicy: "X", matchPolicy: "Y", reinvocationPolicy: "Z" }),
    [
      "NotSupported webhooks[0].failurePolicy",
      "NotSupported webhooks[0].matchPolicy",
      "NotSupported webhooks[0].reinvocationPolicy",
    ],
  ],
  [
    "a wildcard must be the only item",
    validatingWebhookConfiguration,
    hooks({
      rules: [
        {
          operations: ["*", "CREATE"],
          apiGroups: ["*", "x"],
          apiVersions: ["*"],
          resources: ["*/*", "pods"],
        },
      ],
    }),
    [
      "Invalid webhooks[0].rules[0].apiGroups",
      "Invalid webhooks[0].rules[0].operations",
      "Invalid webhooks[0].rules[0].resources",
    ],
  ],
  [
    "an unknown scope is refused",
    validatingWebhookConfiguration,
    hooks({ rules: [{ ...rule, scope: "Galaxy" }] }),
    ["NotSupported webhooks[0].rules[0].scope"],
  ],
  [
    "names of webhooks are unique",
    validatingWebhookConfiguration,
    { webhooks: [hook, hook] },
    ["Duplicate webhooks[1].name"],
  ],
  [
    "a flow schema needs a priority level",
    flowSchema,
    { spec: { priorityLevelConfiguration: { name: "" }, rules: [{ subjects: [] }] } },
    [
      "Required spec.priorityLevelConfiguration.name",
      "Required spec.rules[0]",
      "Required spec.rules[0].subjects",
    ],
  ],
  [
    "the first precedence is reserved",
    flowSchema,
    { spec: { ...flow, matchingPrecedence: 1 } },
    ["Invalid spec.matchingPrecedence"],
  ],
  [
    "a subject has only the field of its kind",
    flowSchema,
    {
      spec: {
        ...flow,
        rules: [
          {
            subjects: [{ kind: "User", group: { name: "g" } }],
            nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
          },
        ],
      },
    },
    ["Forbidden spec.rules[0].subjects[0].group", "Required spec.rules[0].subjects[0].user"],
  ],
  [
    "malformed non-resource URLs are refused",
    flowSchema,
    {
      spec: {
        ...flow,
        rules: [
          {
            subjects: anyone,
            nonResourceRules: [{ verbs: ["fly"], nonResourceURLs: ["x", "/a*b", "/a/*", "/a/*/*", "/a//b"] }],
          },
        ],
      },
    },
    [
      "Invalid spec.rules[0].nonResourceRules[0].nonResourceURLs[0]",
      "Invalid spec.rules[0].nonResourceRules[0].nonResourceURLs[1]",
      "Invalid spec.rules[0].nonResourceRules[0].nonResourceURLs[3]",
      "Invalid spec.rules[0].nonResourceRules[0].nonResourceURLs[4]",
      "NotSupported spec.rules[0].nonResourceRules[0].verbs",
    ],
  ],
  [
    "a resource rule needs namespaces",
    flowSchema,
    {
      spec: {
        ...flow,
        rules: [
          { subjects: anyone, resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] },
        ],
      },
    },
    ["Required spec.rules[0].resourceRules[0].namespaces"],
  ],
  [
    "the hand size must not exceed the number of queues",
    priorityLevelConfiguration,
    queued({ queues: 2, handSize: 20, queueLengthLimit: 5 }),
    ["Invalid spec.limited.limitResponse.queuing.handSize"],
  ],
  [
    "the hand size is limited by its entropy",
    priorityLevelConfiguration,
    queued({ queues: 1000, handSize: 10, queueLengthLimit: 5 }),
    ["Invalid spec.limited.limitResponse.queuing.handSize"],
  ],
  [
    "the entropy counts all queues for each draw",
    priorityLevelConfiguration,
    queued({ queues: 66, handSize: 10, queueLengthLimit: 5 }),
    ["Invalid spec.limited.limitResponse.queuing.handSize"],
  ],
  [
    "an entropy of sixty bits is allowed",
    priorityLevelConfiguration,
    queued({ queues: 64, handSize: 10, queueLengthLimit: 5 }),
    [],
  ],
  [
    "only the exempt level is of type Exempt",
    priorityLevelConfiguration,
    { spec: { type: "Exempt", limited: {} } },
    ["Forbidden spec.limited", "Invalid spec.type"],
  ],
  [
    "the lendable percentage is at most 100",
    priorityLevelConfiguration,
    level({ lendablePercent: 101 }),
    ["Invalid spec.limited.lendablePercent"],
  ],
  [
    "priorities above the user range are refused",
    priorityClass,
    { value: 2_000_000_000 },
    ["Forbidden value"],
  ],
  [
    "names with the system prefix are reserved",
    priorityClass,
    { metadata: { name: "system-x" }, value: 1 },
    ["Forbidden metadata.name"],
  ],
  [
    "the system classes are valid",
    priorityClass,
    { metadata: { name: "system-node-critical" }, value: 2_000_001_000 },
    [],
  ],
  ["a malformed handler is refused", runtimeClass, { handler: "Bad_" }, ["Invalid handler"]],
  [
    "an unknown resource in the overhead is refused",
    runtimeClass,
    { handler: "h", overhead: { podFixed: { odd: "1", cpu: "-1" } } },
    ["Invalid overhead.limits[cpu]", "Invalid overhead.limits[odd]", "Invalid overhead.limits[odd]"],
  ],
  [
    "an unknown resource in a limit range is reported twice",
    limitRange,
    limits({ type: "Pod", max: { odd: "1" } }),
    ["Invalid spec.limits[0].max[odd]", "Invalid spec.limits[0].max[odd]"],
  ],
  [
    "no ratio is consistent with a negative minimum",
    limitRange,
    limits({ type: "Pod", min: { cpu: "-1" }, max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "3" } }),
    ["Invalid spec.limits[0].maxLimitRequestRatio[cpu]"],
  ],
  [
    "tolerations of a runtime class that differ only in seconds are duplicates",
    runtimeClass,
    {
      handler: "h",
      scheduling: {
        tolerations: [
          { key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 },
          { key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: 2 },
        ],
      },
    },
    ["Duplicate scheduling.tolerations[1]"],
  ],
  [
    "bounds and defaults of a limit range must be ordered",
    limitRange,
    limits({ type: "Container", min: { cpu: "2" }, max: { cpu: "1" }, default: { cpu: "3" } }),
    [
      "Invalid spec.limits[0].defaultRequest[cpu]",
      "Invalid spec.limits[0].default[cpu]",
      "Invalid spec.limits[0].min[cpu]",
    ],
  ],
  [
    "a malformed type of a limit range is refused",
    limitRange,
    limits({ type: "Odd thing", max: { cpu: "1" } }),
    ["Invalid spec.limits[0].type"],
  ],
  [
    "types of a limit range are unique",
    limitRange,
    limits({ type: "Pod", max: { cpu: "1" } }, { type: "Pod", max: { cpu: "1" } }),
    ["Duplicate spec.limits[1].type"],
  ],
  [
    "defaults for pods are refused",
    limitRange,
    limits({ type: "Pod", default: { cpu: "1" } }),
    ["Forbidden spec.limits[0].default"],
  ],
  [
    "the ratio must be consistent with the bounds",
    limitRange,
    limits({ type: "Pod", min: { cpu: "1" }, max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "3" } }),
    ["Invalid spec.limits[0].maxLimitRequestRatio[cpu]"],
  ],
  [
    "limits of claims need a storage size",
    limitRange,
    limits({ type: "PersistentVolumeClaim", max: {} }),
    ["Required spec.limits[0].limits"],
  ],
  [
    "quota amounts must not be negative, and names must be valid",
    resourceQuota,
    { spec: { hard: { pods: "-1", "bad name!": "1" } } },
    ["Invalid spec.hard[bad name!]", "Invalid spec.hard[bad name!]", "Invalid spec.hard[pods]"],
  ],
  [
    "the number of pods must be an integer",
    resourceQuota,
    { spec: { hard: { pods: "500m" } } },
    ["Invalid spec.hard[pods]"],
  ],
  [
    "conflicting scopes are refused",
    resourceQuota,
    { spec: { hard: { pods: "5" }, scopes: ["BestEffort", "NotBestEffort"] } },
    ["Invalid spec.scopes"],
  ],
  [
    "a scope must apply to the counted resources",
    resourceQuota,
    { spec: { hard: { secrets: "5" }, scopes: ["BestEffort"] } },
    ["Invalid spec.scopes"],
  ],
  [
    "the operator of a scope selector must suit the scope",
    resourceQuota,
    {
      spec: {
        hard: { pods: "5" },
        scopeSelector: { matchExpressions: [{ scopeName: "BestEffort", operator: "In" }] },
      },
    },
    [
      "Invalid spec.scopeSelector.matchExpressions.operator",
      "Required spec.scopeSelector.matchExpressions.values",
    ],
  ],
  [
    "the duration of a lease must be positive",
    lease,
    { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
    ["Invalid spec.leaseDurationSeconds", "Invalid spec.leaseTransitions"],
  ],
];
for (const [name, strategy, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(strategy, { metadata, ...sent }).causes, causes));

const changed: [name: string, strategy: Strategy, before: object, after: object, causes: string[]][] = [
  [
    "the value of a priority class is immutable",
    priorityClass,
    { value: 1, preemptionPolicy: "Never" },
    { value: 2 },
    ["Forbidden value", "Invalid preemptionPolicy"],
  ],
  [
    "the handler of a runtime class is immutable",
    runtimeClass,
    { handler: "h" },
    { handler: "z" },
    ["Invalid handler"],
  ],
  [
    "the scheduling of a changed runtime class is validated",
    runtimeClass,
    { handler: "h" },
    { handler: "h", scheduling: { tolerations: [{ key: "a", operator: "Odd" }] } },
    ["NotSupported scheduling.tolerations.tolerations[0].operator"],
  ],
  [
    "the scopes of a quota are immutable",
    resourceQuota,
    { spec: { scopes: ["Terminating"] } },
    { spec: { scopes: ["NotTerminating"] } },
    ["Invalid spec.scopes"],
  ],
  [
    "webhooks that violate a newer rule may be updated",
    validatingWebhookConfiguration,
    { webhooks: [hook, hook] },
    { webhooks: [hook, hook] },
    [],
  ],
  [
    "a repeated scope does not change the set of scopes",
    resourceQuota,
    { spec: { scopes: ["BestEffort"] } },
    { spec: { scopes: ["BestEffort", "BestEffort"] } },
    [],
  ],
];
for (const [name, strategy, before, after, causes] of changed)
  test(name, () =>
    assert.deepEqual(tryUpdate(strategy, { metadata, ...before }, { metadata, ...after }).causes, causes),
  );
