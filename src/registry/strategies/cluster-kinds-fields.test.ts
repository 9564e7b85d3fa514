import assert from "node:assert/strict";
import { test } from "node:test";
import type { Strategy } from "../strategy.ts";
import { flowSchema, mandatoryFlowSchemas } from "./flow-schema.ts";
import { limitRange } from "./limit-range.ts";
import { mandatoryPriorityLevels, priorityLevelConfiguration } from "./priority-level.ts";
import { priorityClass } from "./priority-class.ts";
import { resourceQuota } from "./resource-quota.ts";
import { certificateSigningRequest } from "./signing-request.ts";
import { cellsOf, tryCreate, tryPart } from "./strategy.fixture.ts";
import { validatingWebhookConfiguration } from "./webhook-configuration.ts";
import { hooks } from "./webhook.fixture.ts";

const metadata = { name: "x" };
const flow = { priorityLevelConfiguration: { name: "l" }, matchingPrecedence: 9000 };
const limits = (...items: object[]): object => ({ spec: { limits: items } });

test("mandatory flow schemas and priority levels cannot be changed", () => {
  for (const [name, spec] of Object.entries(mandatoryFlowSchemas))
    assert.deepEqual(tryCreate(flowSchema, { metadata: { name }, spec }).causes, []);
  for (const [name, spec] of Object.entries(mandatoryPriorityLevels))
    assert.deepEqual(tryCreate(priorityLevelConfiguration, { metadata: { name }, spec }).causes, []);
  assert.deepEqual(tryCreate(flowSchema, { metadata: { name: "catch-all" }, spec: flow }).causes, [
    "Invalid spec",
  ]);
});

test("v1beta2 of priority levels has another name for shares", () => {
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

test("match conditions are dropped unless their gate is on", () => {
  const { object } = tryCreate(validatingWebhookConfiguration, {
    metadata,
    ...hooks({ matchConditions: [{ name: "x", expression: "true" }] }),
  });
  assert.equal((object["webhooks"] as { matchConditions?: object }[])[0]!.matchConditions, undefined);
});

test("limits and requests of containers default to each other", () => {
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

test("table rows of quotas and priority classes", () => {
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

const reset: [name: string, strategy: Strategy, part: string, resets: string[]][] = [
  [
    "the creator of a signing request does not own the server's fields",
    certificateSigningRequest,
    "",
    ["spec", "status"],
  ],
  [
    "the signer does not own the approval conditions",
    certificateSigningRequest,
    "status",
    ["spec", "status.conditions"],
  ],
  [
    "the approver does not own the certificate",
    certificateSigningRequest,
    "approval",
    ["spec", "status.certificate"],
  ],
  ["the status of flow schemas resets metadata", flowSchema, "status", ["spec", "metadata"]],
  [
    "the status of priority levels resets metadata",
    priorityLevelConfiguration,
    "status",
    ["spec", "metadata"],
  ],
];
for (const [name, strategy, part, resets] of reset)
  test(name, () => assert.deepEqual(part ? strategy.subresources![part]!.resets : strategy.resets, resets));

test("labels sent with the status of a flow schema are ignored", () => {
  const before = { metadata, spec: { priorityLevelConfiguration: { name: "x" } } };
  const { object } = tryPart(flowSchema, "status", before, {
    metadata: { ...metadata, labels: { a: "b" } },
    status: {},
  });
  assert.equal((object["metadata"] as { labels?: object }).labels, undefined);
});
