import assert from "node:assert/strict";
import { test } from "node:test";
import type { Strategy } from "../strategy.ts";
import { flowSchema, mandatoryFlowSchemas } from "./flow-schema.ts";
import { limitRange } from "./limit-range.ts";
import { mandatoryPriorityLevels, priorityLevelConfiguration } from "./priority-level.ts";
import { priorityClass } from "./priority-class.ts";
import { resourceQuota } from "./resource-quota.ts";
import { certificateSigningRequest } from "./signing-request.ts";
import { cellsOf, tryCreate, tryPart } from "./try-out.fixture.ts";
import { validatingWebhookConfiguration } from "./webhook-configuration.ts";

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
const limits = (...items: object[]): object => ({ spec: { limits: items } });

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

test("conditions on requests are dropped without their gate", () => {
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
