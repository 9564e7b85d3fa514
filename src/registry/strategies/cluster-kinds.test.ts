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
import { tryCreate, tryUpdate } from "./try-out.fixture.ts";
import { mutatingWebhookConfiguration, validatingWebhookConfiguration } from "./webhook-configuration.ts";

const metadata = { name: "x" };
const rule = {
  operations: ["CREATE"],
  apiGroups: ["example.com"],
  apiVersions: ["v1"],
  resources: ["nothings"],
};
const hook = {
  name: "a.example.com",
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  clientConfig: { url: "https://127.0.0.1:1/x" },
  rules: [rule],
};
const hooks = (given: object): object => ({ webhooks: [{ ...hook, ...given }] });
const flow = { priorityLevelConfiguration: { name: "l" }, matchingPrecedence: 9000 };
const anyone = [{ kind: "User", user: { name: "u" } }];
const level = (limited: object): object => ({
  spec: { type: "Limited", limited: { limitResponse: { type: "Reject" }, ...limited } },
});
const queued = (queuing: object): object => level({ limitResponse: { type: "Queue", queuing } });
const limits = (...items: object[]): object => ({ spec: { limits: items } });

const refused: [name: string, strategy: Strategy, sent: object, causes: string[]][] = [
  ["a webhook is fine", validatingWebhookConfiguration, hooks({}), []],
  [
    "side effects are said",
    validatingWebhookConfiguration,
    hooks({ sideEffects: undefined }),
    ["Required webhooks[0].sideEffects"],
  ],
  [
    "there are no side effects",
    mutatingWebhookConfiguration,
    hooks({ sideEffects: "Some" }),
    ["NotSupported webhooks[0].sideEffects"],
  ],
  [
    "reviews have a version",
    validatingWebhookConfiguration,
    hooks({ admissionReviewVersions: [] }),
    ["Required webhooks[0].admissionReviewVersions"],
  ],
  [
    "reviews have a known version",
    validatingWebhookConfiguration,
    hooks({ admissionReviewVersions: ["v9"] }),
    ["Invalid webhooks[0].admissionReviewVersions"],
  ],
  [
    "a webhook's name has three parts",
    validatingWebhookConfiguration,
    hooks({ name: "short" }),
    ["Invalid webhooks[0].name"],
  ],
  [
    "a webhook has an address",
    validatingWebhookConfiguration,
    hooks({ clientConfig: { url: "://x" } }),
    ["Required webhooks[0].clientConfig.url"],
  ],
  [
    "a webhook is reached safely",
    validatingWebhookConfiguration,
    hooks({ clientConfig: { url: "http://x/" } }),
    ["Invalid webhooks[0].clientConfig.url"],
  ],
  [
    "an address says nothing more",
    validatingWebhookConfiguration,
    hooks({ clientConfig: { url: "https://u@x/?q#f" } }),
    [
      "Invalid webhooks[0].clientConfig.url",
      "Invalid webhooks[0].clientConfig.url",
      "Invalid webhooks[0].clientConfig.url",
    ],
  ],
  [
    "a webhook is reached in one way",
    validatingWebhookConfiguration,
    hooks({ clientConfig: { url: "https://x/", service: { namespace: "n", name: "s" } } }),
    ["Required webhooks[0].clientConfig"],
  ],
  [
    "a webhook is reached in some way",
    validatingWebhookConfiguration,
    hooks({ clientConfig: {} }),
    ["Required webhooks[0].clientConfig"],
  ],
  [
    "the names of a service are mixed up, as ever",
    validatingWebhookConfiguration,
    hooks({ clientConfig: { service: { namespace: "", name: "s" } } }),
    ["Required webhooks[0].clientConfig.service.name"],
  ],
  [
    "a webhook answers soon",
    validatingWebhookConfiguration,
    hooks({ timeoutSeconds: 31 }),
    ["Invalid webhooks[0].timeoutSeconds"],
  ],
  [
    "policies are known",
    mutatingWebhookConfiguration,
    hooks({ failurePolicy: "X", matchPolicy: "Y", reinvocationPolicy: "Z" }),
    [
      "NotSupported webhooks[0].failurePolicy",
      "NotSupported webhooks[0].matchPolicy",
      "NotSupported webhooks[0].reinvocationPolicy",
    ],
  ],
  [
    "a star stands alone",
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
    "scopes are known",
    validatingWebhookConfiguration,
    hooks({ rules: [{ ...rule, scope: "Galaxy" }] }),
    ["NotSupported webhooks[0].rules[0].scope"],
  ],
  [
    "webhooks differ by name",
    validatingWebhookConfiguration,
    { webhooks: [hook, hook] },
    ["Duplicate webhooks[1].name"],
  ],
  [
    "a schema has a level",
    flowSchema,
    { spec: { priorityLevelConfiguration: { name: "" }, rules: [{ subjects: [] }] } },
    [
      "Required spec.priorityLevelConfiguration.name",
      "Required spec.rules[0]",
      "Required spec.rules[0].subjects",
    ],
  ],
  [
    "the first rank is taken",
    flowSchema,
    { spec: { ...flow, matchingPrecedence: 1 } },
    ["Invalid spec.matchingPrecedence"],
  ],
  [
    "a subject is what its kind says",
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
    "paths are paths",
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
    "resources are somewhere",
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
    "a hand is drawn from the queues",
    priorityLevelConfiguration,
    queued({ queues: 2, handSize: 20, queueLengthLimit: 5 }),
    ["Invalid spec.limited.limitResponse.queuing.handSize"],
  ],
  [
    "a hand takes few bits",
    priorityLevelConfiguration,
    queued({ queues: 1000, handSize: 10, queueLengthLimit: 5 }),
    ["Invalid spec.limited.limitResponse.queuing.handSize"],
  ],
  [
    "a hand is reckoned with all queues",
    priorityLevelConfiguration,
    queued({ queues: 66, handSize: 10, queueLengthLimit: 5 }),
    ["Invalid spec.limited.limitResponse.queuing.handSize"],
  ],
  [
    "a hand may take sixty bits",
    priorityLevelConfiguration,
    queued({ queues: 64, handSize: 10, queueLengthLimit: 5 }),
    [],
  ],
  [
    "only one level is exempt",
    priorityLevelConfiguration,
    { spec: { type: "Exempt", limited: {} } },
    ["Forbidden spec.limited", "Invalid spec.type"],
  ],
  [
    "shares to lend are a share",
    priorityLevelConfiguration,
    level({ lendablePercent: 101 }),
    ["Invalid spec.limited.lendablePercent"],
  ],
  ["users stay below the system", priorityClass, { value: 2_000_000_000 }, ["Forbidden value"]],
  [
    "the system's names are its own",
    priorityClass,
    { metadata: { name: "system-x" }, value: 1 },
    ["Forbidden metadata.name"],
  ],
  [
    "the system's classes are fine",
    priorityClass,
    { metadata: { name: "system-node-critical" }, value: 2_000_001_000 },
    [],
  ],
  ["handlers have names", runtimeClass, { handler: "Bad_" }, ["Invalid handler"]],
  [
    "what a runtime costs is known",
    runtimeClass,
    { handler: "h", overhead: { podFixed: { odd: "1", cpu: "-1" } } },
    ["Invalid overhead.limits[cpu]", "Invalid overhead.limits[odd]", "Invalid overhead.limits[odd]"],
  ],
  [
    "limits of nobody's resource are wrong as a resource and as one for containers",
    limitRange,
    limits({ type: "Pod", max: { odd: "1" } }),
    ["Invalid spec.limits[0].max[odd]", "Invalid spec.limits[0].max[odd]"],
  ],
  [
    "below nothing no ratio fits",
    limitRange,
    limits({ type: "Pod", min: { cpu: "-1" }, max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "3" } }),
    ["Invalid spec.limits[0].maxLimitRequestRatio[cpu]"],
  ],
  [
    "tolerations of a runtime that differ only in their time are one",
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
    "limits are in order",
    limitRange,
    limits({ type: "Container", min: { cpu: "2" }, max: { cpu: "1" }, default: { cpu: "3" } }),
    [
      "Invalid spec.limits[0].defaultRequest[cpu]",
      "Invalid spec.limits[0].default[cpu]",
      "Invalid spec.limits[0].min[cpu]",
    ],
  ],
  [
    "types of limits are known",
    limitRange,
    limits({ type: "Odd thing", max: { cpu: "1" } }),
    ["Invalid spec.limits[0].type"],
  ],
  [
    "types of limits differ",
    limitRange,
    limits({ type: "Pod", max: { cpu: "1" } }, { type: "Pod", max: { cpu: "1" } }),
    ["Duplicate spec.limits[1].type"],
  ],
  [
    "pods have no defaults",
    limitRange,
    limits({ type: "Pod", default: { cpu: "1" } }),
    ["Forbidden spec.limits[0].default"],
  ],
  [
    "a ratio fits the bounds",
    limitRange,
    limits({ type: "Pod", min: { cpu: "1" }, max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "3" } }),
    ["Invalid spec.limits[0].maxLimitRequestRatio[cpu]"],
  ],
  [
    "claims are limited by size",
    limitRange,
    limits({ type: "PersistentVolumeClaim", max: {} }),
    ["Required spec.limits[0].limits"],
  ],
  [
    "quotas are not negative, and their names are known",
    resourceQuota,
    { spec: { hard: { pods: "-1", "bad name!": "1" } } },
    ["Invalid spec.hard[bad name!]", "Invalid spec.hard[bad name!]", "Invalid spec.hard[pods]"],
  ],
  ["pods come whole", resourceQuota, { spec: { hard: { pods: "500m" } } }, ["Invalid spec.hard[pods]"]],
  [
    "scopes do not exclude each other",
    resourceQuota,
    { spec: { hard: { pods: "5" }, scopes: ["BestEffort", "NotBestEffort"] } },
    ["Invalid spec.scopes"],
  ],
  [
    "a scope fits what is counted",
    resourceQuota,
    { spec: { hard: { secrets: "5" }, scopes: ["BestEffort"] } },
    ["Invalid spec.scopes"],
  ],
  [
    "a selector's operator fits its scope",
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
    "a lease lasts",
    lease,
    { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
    ["Invalid spec.leaseDurationSeconds", "Invalid spec.leaseTransitions"],
  ],
];
for (const [name, strategy, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(strategy, { metadata, ...sent }).causes, causes));

const changed: [name: string, strategy: Strategy, before: object, after: object, causes: string[]][] = [
  [
    "a priority stays",
    priorityClass,
    { value: 1, preemptionPolicy: "Never" },
    { value: 2 },
    ["Forbidden value", "Invalid preemptionPolicy"],
  ],
  ["a handler stays", runtimeClass, { handler: "h" }, { handler: "z" }, ["Invalid handler"]],
  [
    "what a runtime costs is looked at again",
    runtimeClass,
    { handler: "h" },
    { handler: "h", scheduling: { tolerations: [{ key: "a", operator: "Odd" }] } },
    ["NotSupported scheduling.tolerations.tolerations[0].operator"],
  ],
  [
    "scopes of a quota stay",
    resourceQuota,
    { spec: { scopes: ["Terminating"] } },
    { spec: { scopes: ["NotTerminating"] } },
    ["Invalid spec.scopes"],
  ],
  [
    "webhooks made before a rule may break it",
    validatingWebhookConfiguration,
    { webhooks: [hook, hook] },
    { webhooks: [hook, hook] },
    [],
  ],
  [
    "a scope said twice is no other scope",
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
