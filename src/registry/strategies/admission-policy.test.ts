import assert from "node:assert/strict";
import { test } from "node:test";
import { validatingAdmissionPolicy, validatingAdmissionPolicyBinding } from "./admission-policy.ts";
import { tryCreate } from "./strategy.fixture.ts";

const metadata = { name: "policy.example.com" };
const rule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const policy = (spec: object) => ({
  metadata,
  spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "true" }], ...spec },
});

const policies: [name: string, spec: object, causes: string[]][] = [
  ["a validation of pods", {}, []],
  [
    "no validations and no audit annotations",
    { validations: [] },
    ["Required spec.auditAnnotations", "Required spec.validations"],
  ],
  ["no resource rules", { matchConstraints: {} }, ["Required spec.matchConstraints.resourceRules"]],
  [
    "an expression that is not boolean",
    { validations: [{ expression: "1" }] },
    ["Invalid spec.validations[0].expression"],
  ],
  [
    "an unknown variable",
    { validations: [{ expression: "params == null" }] },
    ["Invalid spec.validations[0].expression"],
  ],
  [
    "parameters of a core kind",
    { paramKind: { apiVersion: "v1", kind: "ConfigMap" }, validations: [{ expression: "params == null" }] },
    [],
  ],
  [
    "a parameter kind without apiVersion",
    { paramKind: { kind: "ConfigMap" } },
    ["Required spec.paramKind.apiVersion"],
  ],
  [
    "a message of two lines",
    { validations: [{ expression: "true", message: "a\nb" }] },
    ["Invalid spec.validations[0].message"],
  ],
  [
    "a message expression that uses the authorizer",
    {
      validations: [{ expression: "true", messageExpression: "authorizer.path('/x').check('get').reason()" }],
    },
    ["Invalid spec.validations[0].messageExpression"],
  ],
  [
    "an unsupported reason",
    { validations: [{ expression: "true", reason: "Unauthorized" }] },
    ["NotSupported spec.validations[0].reason"],
  ],
  [
    "two audit annotations with the same key",
    {
      auditAnnotations: [
        { key: "a", valueExpression: "'x'" },
        { key: "a", valueExpression: "'y'" },
      ],
    },
    ["Duplicate spec.auditAnnotations[1].key"],
  ],
  [
    "a condition without a name",
    { matchConditions: [{ expression: "true" }] },
    ["Required spec.matchConditions[0].name"],
  ],
];
for (const [name, spec, causes] of policies)
  test(`a policy with ${name}`, () =>
    assert.deepEqual(tryCreate(validatingAdmissionPolicy, policy(spec)).causes, causes));

test("a policy fails closed and matches equivalent versions and all objects by default", () => {
  const { spec } = tryCreate(validatingAdmissionPolicy, policy({})).object as never as {
    spec: { failurePolicy: string; matchConstraints: Record<string, unknown> };
  };
  assert.equal(spec.failurePolicy, "Fail");
  assert.equal(spec.matchConstraints["matchPolicy"], "Equivalent");
  assert.deepEqual(spec.matchConstraints["objectSelector"], {});
});

const bindings: [name: string, spec: object, causes: string[]][] = [
  ["an action", { validationActions: ["Deny"] }, []],
  ["no action", {}, ["Required spec.validationActions"]],
  ["an unknown action", { validationActions: ["Scold"] }, ["NotSupported spec.validationActions[0]"]],
  ["Deny together with Warn", { validationActions: ["Deny", "Warn"] }, ["Invalid spec.validationActions"]],
  [
    "parameters with an invalid name",
    { validationActions: ["Deny"], paramRef: { name: "a/b" } },
    ["Invalid spec.paramRef.name"],
  ],
];
for (const [name, spec, causes] of bindings)
  test(`a binding with ${name}`, () =>
    assert.deepEqual(
      tryCreate(validatingAdmissionPolicyBinding, { metadata, spec: { policyName: "p", ...spec } }).causes,
      causes,
    ));
