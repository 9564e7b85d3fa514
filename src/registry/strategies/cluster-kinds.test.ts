import assert from "node:assert/strict";
import { test } from "node:test";
import type { Strategy } from "../strategy.ts";
import { flowSchema, mandatoryFlowSchemas } from "./flow-schema.ts";
import { limitRange } from "./limit-range.ts";
import { lease } from "./lease.ts";
import { mandatoryPriorityLevels, priorityLevelConfiguration } from "./priority-level.ts";
import { priorityClass } from "./priority-class.ts";
import { resourceQuota } from "./resource-quota.ts";
import { requestProblem } from "./rules/certificate-request.ts";
import {
  ecRequest,
  ed25519Request,
  pssRequest,
  rsaRequest,
  sha1Request,
} from "./rules/certificate-requests.fixture.ts";
import { runtimeClass } from "./runtime-class.ts";
import { certificateSigningRequest } from "./signing-request.ts";
import { cellsOf, tryCreate, tryPart, tryUpdate } from "./try-out.fixture.ts";
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

test("what must be there is exactly as it must be", () => {
  for (const [name, spec] of Object.entries(mandatoryFlowSchemas))
    assert.deepEqual(tryCreate(flowSchema, { metadata: { name }, spec }).causes, []);
  for (const [name, spec] of Object.entries(mandatoryPriorityLevels))
    assert.deepEqual(tryCreate(priorityLevelConfiguration, { metadata: { name }, spec }).causes, []);
  assert.deepEqual(tryCreate(flowSchema, { metadata: { name: "catch-all" }, spec: flow }).causes, [
    "Invalid spec",
  ]);
});

test("the older version of levels has another word for shares", () => {
  const older = priorityLevelConfiguration.served![1]!;
  const hub = {
    apiVersion: "",
    kind: "",
    metadata: { creationTimestamp: null },
    spec: { type: "Limited", limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" } } },
  };
  const shown = older.fromHub!(hub, undefined as never) as typeof hub & {
    spec: { limited: { assuredConcurrencyShares?: number } };
  };
  assert.equal(shown.spec.limited.assuredConcurrencyShares, 5);
  assert.deepEqual(older.toHub!(shown, undefined as never), hub);
});

test("conditions on requests are not offered yet", () => {
  const { object } = tryCreate(validatingWebhookConfiguration, {
    metadata,
    ...hooks({ matchConditions: [{ name: "x", expression: "true" }] }),
  });
  assert.equal((object["webhooks"] as { matchConditions?: object }[])[0]!.matchConditions, undefined);
});

test("limits of containers are filled in from each other", () => {
  const { object } = tryCreate(limitRange, {
    metadata,
    ...limits({
      type: "Container",
      min: { cpu: "1", memory: "1Mi" },
      max: { cpu: "3" },
      default: { cpu: "2" },
    }),
  });
  const item = (object["spec"] as { limits: { default: object; defaultRequest: object }[] }).limits[0]!;
  assert.deepEqual([item.default, item.defaultRequest], [{ cpu: "2" }, { cpu: "2", memory: "1Mi" }]);
});

test("tables show quotas and classes", () => {
  const status = { hard: { pods: "2", "limits.cpu": "4" }, used: { pods: "1" } };
  assert.deepEqual(cellsOf(resourceQuota, { metadata, spec: {}, status }), [
    "x",
    "<unknown>",
    "pods: 1/2",
    "limits.cpu: 0/4",
  ]);
  assert.deepEqual(cellsOf(priorityClass, { metadata, value: 5 }), ["x", 5, false, "<unknown>"]);
  assert.deepEqual(cellsOf(flowSchema, { metadata, spec: flow }), [
    "x",
    "l",
    9000,
    "<none>",
    "<unknown>",
    "?",
  ]);
  assert.deepEqual(
    cellsOf(priorityLevelConfiguration, { metadata: { name: "exempt" }, spec: { type: "Exempt" } }),
    ["exempt", "Exempt", "<none>", "<none>", "<none>", "<none>", "<unknown>"],
  );
});

const requests: [name: string, pem: string][] = [
  ["rsa", rsaRequest],
  ["elliptic curve", ecRequest],
  ["ed25519", ed25519Request],
  ["old digest's", sha1Request],
  ["rsa (probabilistic)", pssRequest],
];
for (const [name, pem] of requests) {
  test(`a request signed with its own ${name} key is understood`, () => {
    assert.equal(requestProblem(pem), undefined);
    const bytes = Buffer.from(pem.replace(/-----[^-]+-----/g, ""), "base64");
    bytes[bytes.length - 5]! ^= 1;
    assert.notEqual(
      requestProblem(
        `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`,
      ),
      undefined,
    );
  });
}

const asked = {
  request: Buffer.from(ecRequest).toString("base64"),
  signerName: "example.com/s",
  usages: ["client auth"],
};

test("who asks is written in by the server", () => {
  const { object, causes } = tryCreate(certificateSigningRequest, {
    metadata,
    spec: { ...asked, username: "root", groups: ["system:masters"] },
  });
  assert.deepEqual(causes, []);
  const { username, groups } = object["spec"] as { username: string; groups: string[] };
  assert.deepEqual([username, groups], ["tester", ["testers"]]);
});

const wrongRequests: [name: string, given: object, causes: string[]][] = [
  ["a request is a request", { request: "bm9wZQ==" }, ["Invalid spec.request"]],
  ["a request says what for", { usages: [] }, ["Required spec.usages"]],
  [
    "usages are known, once",
    { usages: ["client auth", "client auth", "flying"] },
    ["Duplicate spec.usages[1]", "NotSupported spec.usages[2]"],
  ],
  ["a signer has a domain", { signerName: "s" }, ["Invalid spec.signerName"]],
  ["a signer's domain has two parts", { signerName: "a/s" }, ["Invalid spec.signerName"]],
  [
    "the old signer is not asked any more",
    { signerName: "orch.io/legacy-unknown" },
    ["Invalid spec.signerName"],
  ],
  ["a certificate lasts ten minutes", { expirationSeconds: 599 }, ["Invalid spec.expirationSeconds"]],
];
for (const [name, given, causes] of wrongRequests)
  test(name, () =>
    assert.deepEqual(
      tryCreate(certificateSigningRequest, { metadata, spec: { ...asked, ...given } }).causes,
      causes,
    ),
  );

const approved = { type: "Approved", status: "True" };
const doors: [name: string, door: string, status: object, causes: string[]][] = [
  ["an approver approves", "approval", { conditions: [approved] }, []],
  [
    "an approver does not also deny",
    "approval",
    { conditions: [approved, { type: "Denied", status: "True" }] },
    ["Invalid status.conditions[1].type"],
  ],
  [
    "a verdict is true",
    "approval",
    { conditions: [{ type: "Approved", status: "False" }] },
    ["NotSupported status.conditions[0].status"],
  ],
  ["a signer does not approve", "status", { conditions: [approved] }, ["Forbidden status.conditions"]],
  [
    "a signer brings a certificate",
    "status",
    { certificate: Buffer.from("nope").toString("base64") },
    ["Invalid status.certificate"],
  ],
];
for (const [name, door, status, causes] of doors)
  test(name, () =>
    assert.deepEqual(
      tryPart(certificateSigningRequest, door, { metadata, spec: asked }, { status }).causes,
      causes,
    ),
  );

test("a verdict gets its time", () => {
  const { object } = tryPart(
    certificateSigningRequest,
    "approval",
    { metadata, spec: asked },
    { status: { conditions: [approved] } },
  );
  assert.deepEqual((object["status"] as { conditions: object[] }).conditions, [
    { ...approved, lastUpdateTime: "2024-05-06T07:08:09Z", lastTransitionTime: "2024-05-06T07:08:09Z" },
  ]);
});

const reset: [name: string, strategy: Strategy, part: string, resets: string[]][] = [
  ["who asks for a certificate owns nothing of it", certificateSigningRequest, "", ["spec", "status"]],
  ["who signs owns no verdicts", certificateSigningRequest, "status", ["spec", "status.conditions"]],
  ["who approves owns no certificate", certificateSigningRequest, "approval", ["spec", "status.certificate"]],
  ["the status of flows brings no metadata along", flowSchema, "status", ["spec", "metadata"]],
  ["nor does that of levels", priorityLevelConfiguration, "status", ["spec", "metadata"]],
];
for (const [name, strategy, part, resets] of reset)
  test(name, () => assert.deepEqual(part ? strategy.subresources![part]!.resets : strategy.resets, resets));

test("labels sent with the status of a flow schema go nowhere", () => {
  const before = { metadata, spec: { priorityLevelConfiguration: { name: "x" } } };
  const { object } = tryPart(flowSchema, "status", before, {
    metadata: { ...metadata, labels: { a: "b" } },
    status: {},
  });
  assert.equal((object["metadata"] as { labels?: object }).labels, undefined);
});
